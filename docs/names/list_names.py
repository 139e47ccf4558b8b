"""Lists the public names of Quadrants, for `docs/names.md` and its test. Run it where Quadrants is installed:

    python docs/names/list_names.py > docs/names/quadrants.txt

A line is the path of a module or class and a name in it. Names are those that do not begin with an underscore and that are
Quadrants' own: what is there, comes from Quadrants and was not taken from its root.
"""

import contextlib
import io
import re
import types

with contextlib.redirect_stdout(io.StringIO()):
    import quadrants as qd

MODULES = (
    "", "ad", "algorithms", "experimental", "graph", "interop", "linalg", "math", "profiler", "simt", "simt.block",
    "simt.grid", "simt.subgroup", "simt.warp", "sparse", "tools", "types", "types.quant",
)  # fmt: skip
CLASSES = (
    "BufferView", "Event", "Field", "FieldsBuilder", "Matrix", "MatrixField", "MatrixNdarray", "Ndarray", "SNode",
    "ScalarField", "ScalarNdarray", "Stream", "Struct", "StructField", "Tensor", "Vector", "VectorNdarray", "extension",
)  # fmt: skip
#: Swizzles follow a rule and are not names.
SWIZZLE = re.compile(r"[xyzw]{1,4}|[rgba]{1,4}|[stpq]{1,4}")
#: Internal names that modules happen to import.
INNARDS = re.compile(r"TYPE_CHECKING|impl|make_expr_group|arch_uses_spv|quadrants_scope|warnings|annotations|np")


def place(path: str) -> object:
    found: object = qd
    for part in filter(None, path.split(".")):
        found = getattr(found, part)
    return found


def names_of_module(path: str) -> list[str]:
    module = place(path)
    offered = {*dir(module), *getattr(module, "__all__", ())}
    return sorted(name for name in offered if is_public(module, name, path))


def is_public(module: object, name: str, path: str) -> bool:
    if name.startswith("_") or INNARDS.fullmatch(name):
        return False
    value = getattr(module, name, None)
    if isinstance(value, types.ModuleType):
        # The parts of a package by their files are not what programs name, but for those that are packages to use.
        inner = f"{path}.{name}".lstrip(".")
        return value.__name__.startswith("quadrants") and (inner in MODULES or not path)
    if path and path not in ("math", "types") and getattr(qd, name, None) is value:
        return False  # what a module has taken from the root
    home = getattr(value, "__module__", "")
    return not path or not isinstance(home, str) or home.startswith(("quadrants", "builtins")) or not home


def names_of_class(name: str) -> list[str]:
    cls = getattr(qd, name)
    plain = set(dir(int)) if name == "extension" else set()
    public = [each for each in dir(cls) if not each.startswith("_") and each not in plain]
    return sorted(each for each in public if not SWIZZLE.fullmatch(each))


def main() -> None:
    """Write all lines."""
    for path in MODULES:
        for name in names_of_module(path):
            print(f"{path or '.'} {name}")
    for name in CLASSES:
        for member in names_of_class(name):
            print(f"{name}() {member}")


if __name__ == "__main__":
    main()
