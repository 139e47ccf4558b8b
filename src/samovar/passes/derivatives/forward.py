"""Forward mode: each value that carries derivatives gets a tangent, and code computes both.

Control flow is unchanged. Applied to a reverse kernel it gives second derivatives, so it also handles the stack of the
thread, which only reverse kernels use.
"""

from __future__ import annotations

from collections.abc import Mapping

from samovar.ir import (
    Array,
    Atomic,
    Builder,
    Constant,
    Kernel,
    Local,
    LocalArray,
    Operation,
    ParallelFor,
    Region,
    ScratchArray,
    Value,
    indices,
    memory,
    regions,
    use_counts,
    walk,
)
from samovar.passes.derivatives.activity import Activity, NotDifferentiable, is_real
from samovar.passes.derivatives.rules import RULES, Chain


def forward_tangents(kernel: Kernel, tangents: Mapping[Array, Array]) -> None:
    """Make a kernel without calls compute tangents, in place; `tangents` are those of the arrays that have one."""
    _Forward(kernel, tangents).run()


class _Forward:
    def __init__(self, kernel: Kernel, tangents: Mapping[Array, Array]) -> None:
        self.kernel = kernel
        self.arrays: dict[Array, Array] = dict(tangents)
        self.active = Activity(kernel, set(tangents))
        returned = self.active.returned(kernel)
        if returned is not None:
            raise NotDifferentiable.at_return(returned)
        self.uses = use_counts([kernel.body])
        self.values: dict[Value, Value] = {}
        self.locals: dict[Local, Local] = {}
        tasks = [each for each in walk(kernel.body) if isinstance(each, ParallelFor)]
        self.homes = {local: task.locals for task in tasks for local in task.locals}
        pushed = [each for each in walk(kernel.body) if each.code == "push" and each.operands[0] in self.active]
        self.pushes = bool(pushed)

    def run(self) -> None:
        self._region(self.kernel.body)
        own = [each for each in self.arrays.values() if not isinstance(each, (LocalArray, ScratchArray))]
        self.kernel.parameters += [each for each in own if each not in self.kernel.parameters]

    def _tangent(self, value: Value) -> Value:
        """The tangent of a value, 0 if it carries none."""
        found = self.values.get(value)
        if found is not None:
            return found
        assert value.type is not None
        return Constant(0.0, value.type)

    def _local(self, local: Local) -> Local:
        found = self.locals.get(local)
        if found is None:
            found = self.locals[local] = Local(f"{local.name}.dual", local.type)
            found.shared = local.shared
            self.homes.get(local, self.kernel.locals).append(found)
        return found

    def _region(self, region: Region) -> None:
        build = Builder()
        for operation in region.operations:
            if operation.code == "stop_gradient":
                continue
            build.line, build.origin = operation.line, operation.origin
            for inner in regions(operation):
                self._region(inner)
            before = len(build.operations)
            if operation.code in ("store", "store_local", "atomic", "update", "reserve", "scratch", "push", "pop"):
                self._memory(build, operation)
                if operation.code == "push":
                    build.operations.insert(before, operation)
                    continue
                build.append(operation)
            else:
                build.append(operation)
                if operation in self.active:
                    self._value(build, operation)
        region.operations = build.operations

    def _value(self, build: Builder, operation: Operation) -> None:
        assert operation.type is not None
        if operation.code == "load_local":
            self.values[operation] = build.get(self._local(operation.payload))
        elif operation.code == "load":
            array = self.arrays[operation.payload]
            self.values[operation] = build.make("load", array.dtype, *operation.operands, payload=array)
        else:
            self._compute(build, operation)

    def _compute(self, build: Builder, operation: Operation) -> None:
        rule = RULES.get(operation.code)
        if rule is None:
            message = f"no derivative is known for `{operation.code}`"
            raise NotDifferentiable(operation, message, "use functions that have one")
        assert operation.type is not None
        source = operation.operands[0].type or operation.type
        chain = Chain(lambda: build, operation.type, source, operation.operands.__getitem__, lambda: operation)
        total: Value | None = None
        for operand, pull in zip(operation.operands, rule, strict=True):
            tangent = self.values.get(operand)
            if pull is None or tangent is None:
                continue
            part = pull(chain, tangent)
            total = part if total is None else build.make("add", operation.type, total, part)
        if total is not None:
            self.values[operation] = total

    def _memory(self, build: Builder, operation: Operation) -> None:
        """Apply the memory operation to the tangent too."""
        if operation.code == "push":
            if self.pushes and is_real(operation.operands[0].type):
                build.make("push", None, self._tangent(operation.operands[0]))
            return
        if operation.code == "pop":
            if self.pushes and is_real(operation.type):
                self.values[operation] = build.make("pop", operation.type)
            return
        if operation.code == "reserve":
            array: LocalArray = operation.payload
            if array in self.active:
                made = self.arrays[array] = LocalArray(f"{array.name}.dual", array.dtype, array.shape, private=array.private)
                build.make("reserve", None, payload=made)
            return
        if operation.code == "scratch":
            copy, like = operation.payload
            if copy in self.active:
                scratch = self.arrays[copy] = ScratchArray(f"{copy.name}.dual", copy.dtype)
                build.make("scratch", None, *operation.operands, payload=(scratch, like))
            return
        target = memory(operation)
        if target not in self.active or target is None:
            return
        tangent = self._tangent(operation.operands[-1])
        if operation.code == "store_local":
            build.set(self._local(operation.payload), tangent)
            return
        dual = self._local(target) if isinstance(target, Local) else self.arrays[target]
        if operation.code == "store":
            build.make("store", None, *indices(operation), tangent, payload=dual)
            return
        payload: Atomic = operation.payload
        if payload.operation not in ("add", "sub") or self.uses[operation]:
            raise NotDifferentiable(
                operation,
                f"iterations share what `{payload.operation}` updates here, so its derivative depends on their order",
                "update a separate element in each iteration, or use a sum, or an extreme of what the loop does not write",
            )
        if operation.operands[-1] in self.values:
            assert operation.type is not None
            build.make(
                operation.code, operation.type, *indices(operation), tangent, payload=Atomic(payload.operation, dual)
            )
