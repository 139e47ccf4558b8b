"""A tiny compiler for formulas, whose stages are cached by fingerprint. Run it twice: the second run renders nothing.

    python examples/fingerprint_pipeline.py ["a*(x+1)" ...]

Three things to look at: the stage in memory keys by the whole tree, locations included, because its messages carry
them; the stage on disk leaves locations out, so that a moved formula is not rendered again; and when a formula is
rendered after all, the example says which part of it changed.
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
    """A part of a formula, and the column where it starts."""

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
    """Source to tree. How often it ran is of no interest to the cache."""

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
    """Tree to text. The indentation is configuration: another one means another result."""

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
    """A rule: the parts of a sum or of a product may come in any order."""
    parts = node.terms if isinstance(node, Sum) else node.factors
    return OrderInsensitiveDeconstruction(type(node).__name__, pieces=parts)


def name_only(node: Name) -> Deconstruction:
    """A rule: of a name only the name counts."""
    return EmptyDeconstruction("Name", node.name.encode())


def explain(places: Sequence[Difference]) -> None:
    for place in places:
        print(f"  differs from the one before at {place.path}: {place.before} → {place.after}")


def main(sources: Sequence[str]) -> None:
    parse = CachedStep(Parse(), key_function=stable_fingerprinter)
    render = without_columns()
    same_value = make_fingerprinter(
        make_deconstructor({Sum: commutative, Product: commutative, Name: name_only}, skip={Node: ["column"]})
    )
    print(f"keys are salted with {build_cache_version_id()[:12]}")
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
                print("  the same value as the one before")
            explain(difference(previous, tree, fingerprinter=render.key_function, limit=3))  # type: ignore[arg-type]
        previous = tree
    doubled: CachedStep[Any, Any] = CachedStep(
        lambda tree: replace(tree, column=2 * tree.column), key_function=lenient_fingerprinter
    )
    print(f"\na lambda is fine as a step in memory: its key is {doubled.key_of(previous)[:12]}...")


if __name__ == "__main__":
    main(sys.argv[1:] or ["a * (x + 1)", "a*(x+1)", "a*(x+2)", "(2+x)*a"])
