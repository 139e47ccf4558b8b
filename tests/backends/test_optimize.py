"""The step from text to object: what one compile leaves behind for the next."""

import llvmlite.binding as llvm

from backends.optimize import optimize
from samovar.backends.llvm.target import host_target

EMPTY = "define void @nothing() {\n  ret void\n}\n"


def test_a_pass_builder_is_used_for_one_module_only(monkeypatch):
    # A run leaves callbacks in its builder: kept, it makes every compile slower than the one before.
    made = []
    create = llvm.create_pass_builder

    def recorded(*arguments):
        made.append(create(*arguments))
        return made[-1]

    monkeypatch.setattr(llvm, "create_pass_builder", recorded)
    assert optimize(EMPTY, host_target()) == optimize(EMPTY, host_target())
    assert len(made) == 2
