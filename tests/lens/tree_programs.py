"""Random trees of objects and kernels that read some of their members, as a module of Python text with a plain Python model.

A tree is nested lists: `["node", form, [[name, baked, child], …]]`, a leaf is `[kind, …]`. A read is `[path, kind, way]`: a
list of names, what the kernel takes the member for, and how it gets there. Everything is JSON, so that a program can be
handed to another process.
"""

import json
import sys
from importlib.util import module_from_spec, spec_from_file_location

import numpy as np

PROLOGUE = """\
import dataclasses
import enum

import samovar as sv


class Mode(enum.Enum):
    A = 1
    B = 2


class Members:
    def __init__(self, **members):
        self.__dict__.update(members)
"""

FORMS = {
    "dataclass": "@dataclasses.dataclass",
    "frozen": "@dataclasses.dataclass(frozen=True)",
    "slots": "@dataclasses.dataclass(slots=True)",
    "oriented": "@sv.data_oriented",
    "free": "@sv.data_oriented(template_primitives=False)",
    "plain": "",
}
DATACLASSES = ("dataclass", "frozen", "slots")


class Opaque:
    """Something that no kernel can use."""

    def __getattr__(self, name):
        raise RuntimeError(f"somebody looked at {name}")

    def __eq__(self, other):
        raise RuntimeError("somebody compared")

    __hash__ = None


def nodes(tree, path=()):
    """Every node with its path, the root first."""
    yield path, tree
    for name, _, child in tree[2]:
        if child[0] == "node":
            yield from nodes(child, (*path, name))


def leaves(tree, path=()):
    """Every leaf with its path."""
    for name, _, child in tree[2]:
        if child[0] == "node":
            yield from leaves(child, (*path, name))
        else:
            yield (*path, name), child


def class_name(path):
    return "_".join(("Tree", *path))


def text_of(tree, reads):
    """The module: a class for each node, the kernel, and the funcs that it reaches members through."""
    lines = [PROLOGUE]
    for path, (_, form, members) in reversed(list(nodes(tree))):
        is_dataclass = form in DATACLASSES
        lines += ["", FORMS[form], f"class {class_name(path)}{'' if is_dataclass else '(Members)'}:"]
        for name, baked, _ in members:
            metadata = "dataclasses.field(metadata={sv.FIELD_METADATA_CACHE_VALUE: True})"
            lines += [f"    {name}: object{' = ' + metadata if baked else ''}"] if is_dataclass else []
        lines += ["    pass"] if not (is_dataclass and members) else []
    typed = all(form in DATACLASSES for _, (_, form, _) in nodes(tree))
    kernel = [f"def kernel(t: {class_name(()) if typed else 'sv.Template'}, out: sv.types.NDArray[sv.f64, 1]):"]
    for number, (path, kind, way) in enumerate(reads):
        owner, name = ".".join(("t", *path[:-1])), path[-1]
        if way == "func":
            lines += ["", "@sv.func", f"def read_{number}(owner):", *statements(f"owner.{name}", kind, None)]
            kernel += [f"    out[{number}] = read_{number}({owner})"]
        else:
            kernel += statements(f"{owner}.{name}", kind, f"out[{number}]", way == "write")
    return "\n".join([*lines, "", "", "@sv.kernel", *(kernel if reads else [*kernel, "    pass"]), ""])


def statements(member, kind, target, writes=False):
    """The lines that read a member, into a target or as the result of a func."""
    give = (lambda value: f"{target} = {value}") if target else (lambda value: f"return {value}")
    if kind == "number":
        return ["    " + give(f"sv.cast({member}, sv.f64) + (0.5 if {member} else 0.0)")]
    if kind == "enum":
        return [
            f"    if sv.static({member} is Mode.A):",
            "        " + give("1.0"),
            "    else:",
            "        " + give("2.0"),
        ]
    read = [give(f"sv.cast({member}[0], sv.f64) + {member}.shape[0]")]
    if writes:
        read = [f"for i in range({member}.shape[0]):", f"    {member}[i] += 1", *read]
    if kind == "array":
        return ["    " + line for line in read]
    return [
        f"    if sv.static({member} is None):",
        "        " + give("-1.0"),
        "    else:",
        *("        " + line for line in read),
    ]


def load(text, path):
    """The module that a text is."""
    path.write_text(text)
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def build(module, tree):
    """The objects of a tree."""
    root = built(module, tree, ())
    for path, leaf in leaves(tree):
        if leaf[0] == "root":
            bind(root, path, root)
    return root


def built(module, tree, path):
    members = {
        name: built(module, child, (*path, name)) if child[0] == "node" else value_of(module, child)
        for name, _, child in tree[2]
    }
    return getattr(module, class_name(path))(**members)


def value_of(module, leaf):
    kind, *rest = leaf
    if kind == "array":
        dtype, length, start, own = rest
        made = np.arange(start, start + length, dtype=dtype)
        return module.sv.from_numpy(made) if own else made
    if kind == "enum":
        return module.Mode[rest[0]]
    if kind == "opaque":
        return Opaque()
    return rest[0] if kind == "number" else None


def contents(array):
    """What is in an array of NumPy or of our own, as a copy."""
    return np.array(array if isinstance(array, np.ndarray) else array.to_numpy())


def follow(root, path):
    for name in path:
        root = getattr(root, name)
    return root


def bind(root, path, value):
    object.__setattr__(follow(root, path[:-1]), path[-1], value)


def expected(module, root, reads):
    """What the kernel does, in plain Python, on copies: the results, and the arrays afterwards."""
    copies, results = {}, []
    for path, kind, way in reads:
        value = follow(root, path)
        if kind == "number":
            results.append(float(value) + (0.5 if value else 0.0))
        elif kind == "enum":
            results.append(1.0 if value is module.Mode.A else 2.0)
        elif value is None:
            results.append(-1.0)
        else:
            copy = copies.setdefault(id(value), (value, contents(value)))[1]
            if way == "write":
                copy += 1
            results.append(float(copy[0]) + len(copy))
    return results, list(copies.values())


def check(module, root, reads):
    """Launch and compare."""
    results, arrays = expected(module, root, reads)
    out = np.zeros(len(reads))
    module.kernel(root, out)
    assert out.tolist() == results, (out.tolist(), results)
    for actual, wanted in arrays:
        assert contents(actual).tolist() == wanted.tolist()


def change(module, root, tree, changes):
    """Changes of the tree: another value at a leaf, or another object with the same members at a node."""
    for path, leaf in changes:
        if leaf == "copy":
            old = follow(root, path)
            names = [name for name, *_ in next(node for where, node in nodes(tree) if where == tuple(path))[2]]
            bind(root, path, type(old)(**{name: getattr(old, name) for name in names}))
        else:
            bind(root, path, value_of(module, leaf))


def main():
    """Run a program that is given as JSON: launch, then change and launch again."""
    from pathlib import Path

    program = json.loads(sys.stdin.read())
    module = load(text_of(program["tree"], program["reads"]), Path(sys.argv[1]))
    root = build(module, program["tree"])
    check(module, root, program["reads"])
    for changes in program["rounds"]:
        change(module, root, program["tree"], changes)
        check(module, root, program["reads"])
    import samovar as sv

    print(json.dumps({"compiled": sv.compile_count(), "loaded": module.kernel.cache_observations.loads}))


if __name__ == "__main__":
    main()
