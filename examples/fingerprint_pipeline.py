"""A small formula compiler with stages cached by fingerprint. Run it twice: the second run renders nothing.

    python examples/fingerprint_pipeline.py ["a*(x+1)" ...]

The in-memory stage is keyed by the whole tree, including source locations, because its messages contain them. The
on-disk stage ignores locations, so a moved formula is not rendered again. When a formula is rendered, the example prints
which part of it changed.
"""

from __future__ import annotations

import ast
import os
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from samovar.fingerprint import (
    CachedStep,
    Deconstruction,
    Difference,
    EmptyDeconstruction,
    FileCache,
    OrderInsensitiveDeconstruction,
    build_cache_version_id,
    catabolize,
    difference,
    lenient_fingerprinter,
    make_deconstructor,
    make_fingerprinter,
    metadata,
    stable_fingerprinter,
)


@dataclass(frozen=True)
class Node:
    """A part of a formula, with the column where it starts."""

    column: int


@dataclass(frozen=True)
class Name(Node):
    name: str


@dataclass(frozen=True)
class Number(Node):
    value: float


@dataclass(frozen=True)
class Sum(Node):
    terms: tuple[Node, ...]


@dataclass(frozen=True)
class Product(Node):
    factors: tuple[Node, ...]


@dataclass(frozen=True)
class Parse:
    """Parse source into a tree. The number of runs does not affect caching."""

    runs: list[str] = field(default_factory=list, metadata=metadata(fingerprint=False))

    def __call__(self, source: str) -> Node:
        self.runs.append(source)
        return self.build(ast.parse(source, mode="eval").body)

    def build(self, part: ast.expr) -> Node:
        match part:
            case ast.Name(id=name):
                return Name(part.col_offset, name)
            case ast.Constant(value=int() | float() as value):
                return Number(part.col_offset, float(value))
            case ast.BinOp(left, ast.Add(), right):
                return Sum(part.col_offset, (self.build(left), self.build(right)))
            case ast.BinOp(left, ast.Mult(), right):
                return Product(part.col_offset, (self.build(left), self.build(right)))
        raise SyntaxError(f"column {part.col_offset}: only names, numbers, + and * are known here")


@dataclass(frozen=True)
class Render:
    """Render a tree as text. The indentation is part of the configuration, and so of the key."""

    indent: str = "  "
    runs: list[Node] = field(default_factory=list, metadata=metadata(fingerprint=False))

    def __call__(self, tree: Node) -> str:
        self.runs.append(tree)
        return "\n".join(self.lines(tree, ""))

    def lines(self, node: Node, margin: str) -> Sequence[str]:
        match node:
            case Name(name=text) | Number(value=text):
                return [f"{margin}{text}"]
            case Sum(terms=parts) | Product(factors=parts):
                below = [line for part in parts for line in self.lines(part, margin + self.indent)]
                return [f"{margin}{type(node).__name__.lower()}", *below]
        raise TypeError(f"not a part of a formula: {node!r}")


def without_columns() -> CachedStep[Node, str]:
    """The stage on disk."""
    skip_columns = make_fingerprinter(make_deconstructor(skip={Node: ["column"]}))
    directory = os.path.join(tempfile.gettempdir(), f"samovar-formulas-{os.getuid()}")
    cache = FileCache[str](directory, encode=str.encode, decode=bytes.decode)
    return CachedStep(Render(), key_function=skip_columns, cache=cache)


def commutative(node: Sum | Product) -> Deconstruction:
    """A rule: operands of sums and products may come in any order."""
    parts = node.terms if isinstance(node, Sum) else node.factors
    return OrderInsensitiveDeconstruction(type(node).__name__, pieces=parts)


def name_only(node: Name) -> Deconstruction:
    """A rule: a name is identified by its text alone."""
    return EmptyDeconstruction("Name", node.name.encode())


def explain(places: Sequence[Difference]) -> None:
    for place in places:
        print(f"  differs from the previous one at {place.path}: {place.before} → {place.after}")


def main(sources: Sequence[str]) -> None:
    parse = CachedStep(Parse(), key_function=stable_fingerprinter)
    render = without_columns()
    same_value = make_fingerprinter(
        make_deconstructor({Sum: commutative, Product: commutative, Name: name_only}, skip={Node: ["column"]})
    )
    print(f"toolchain fingerprint: {build_cache_version_id()[:12]}")
    previous: Node | None = None
    for source in sources:
        tree = parse(source)
        nodes = catabolize(tree, deconstruct=make_deconstructor(), collapse=lambda level: 1 + sum(level.pieces))
        before = len(render.step.runs)  # type: ignore[attr-defined]
        text = render(tree)
        outcome = "rendered" if len(render.step.runs) > before else "from the cache"  # type: ignore[attr-defined]
        print(f"\n{source}: {nodes} levels, {outcome}\n{text}")
        if previous is not None:
            if same_value(previous) == same_value(tree):
                print("  same value as the previous one")
            explain(difference(previous, tree, fingerprinter=render.key_function, limit=3))  # type: ignore[arg-type]
        previous = tree
    doubled: CachedStep[Any, Any] = CachedStep(
        lambda tree: replace(tree, column=2 * tree.column), key_function=lenient_fingerprinter
    )
    print(f"\nan in-memory step may be a lambda; its key is {doubled.key_of(previous)[:12]}...")


if __name__ == "__main__":
    main(sys.argv[1:] or ["a * (x + 1)", "a*(x+1)", "a*(x+2)", "(2+x)*a"])
