"""Rules of intrinsics, and their arguments: staged once, in order, by parameter name.

A `Rule` works on staged arguments, so it can be applied element-wise. A `SyntaxRule` needs the call as written: for
places that are modified, for code that is evaluated differently, for f-strings.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from samovar._native import DType
from samovar.errors import did_you_mean
from samovar.frontend.dispatch import stage
from samovar.frontend.operators import by_components
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager


class Call:
    """A call of an intrinsic. `arguments` and their `nodes` are by parameter name, in parameter order."""

    __slots__ = ("arguments", "node", "nodes")

    def __init__(self, node: ast.Call, arguments: dict[str, Staged], nodes: dict[str, ast.expr]) -> None:
        self.node = node
        self.arguments = arguments
        self.nodes = nodes

    def __getitem__(self, name: str) -> Staged:
        return self.arguments[name]

    def get(self, name: str) -> Staged | None:
        """An optional argument."""
        return self.arguments.get(name)

    @property
    def values(self) -> tuple[Staged, ...]:
        """The arguments that are given."""
        return tuple(self.arguments.values())

    def of(self, values: tuple[Staged, ...]) -> Call:
        """The same call with other arguments."""
        return Call(self.node, dict(zip(self.arguments, values, strict=True)), self.nodes)


class Rule:
    """How an intrinsic is staged.

    `parameters` are names; one that ends in `?` is optional, one that begins with `*` takes any number of positional
    arguments, and those after it are keyword-only. An `elementwise` rule is applied to the components of its arguments.
    `refusal` is the message for arguments that do not match, if the default is not specific enough.
    """

    __slots__ = ("apply", "elementwise", "parameters", "refusal")

    def __init__(
        self,
        apply: Callable[[Stager, Call], Staged],
        parameters: str,
        *,
        elementwise: bool = False,
        refusal: str = "",
    ) -> None:
        self.apply = apply
        self.parameters = parameters
        self.elementwise = elementwise
        self.refusal = refusal

    def __call__(self, stager: Stager, node: ast.Call) -> Staged:
        return self.applied(stager, bind(stager, node, self.parameters, self.refusal))

    def applied(self, stager: Stager, call: Call) -> Staged:
        """The result for staged arguments."""
        if self.elementwise:
            done = by_components(
                stager, call.values, call.node, lambda *parts: self.applied(stager, call.of(tuple(parts)))
            )
            if done is not None:
                return done
        return self.apply(stager, call)


class SyntaxRule:
    """The rule of an intrinsic that needs its arguments as written."""

    __slots__ = ("apply",)

    def __init__(self, apply: Callable[[Stager, ast.Call], Staged]) -> None:
        self.apply = apply

    def __call__(self, stager: Stager, node: ast.Call) -> Staged:
        return self.apply(stager, node)


#: The rules of functions that the frontend implements, by canonical name. `intrinsics.py` enters them.
INTRINSICS: dict[str, Rule | SyntaxRule] = {}


def bind(stager: Stager, node: ast.Call, parameters: str, refusal: str = "") -> Call:
    """Stage the arguments of a call, and bind them to parameters."""
    wanted = parameters.split()
    names = [name.rstrip("?") for name in wanted]
    positions = positional_names(names)
    given: dict[str, Staged] = {}
    nodes: dict[str, ast.expr] = {}
    for argument in node.args:
        values = (stage(stager, argument),) if not isinstance(argument, ast.Starred) else unpacked(stager, argument)
        for value in values:
            name = next(positions)
            given[name], nodes[name] = value, argument
    for keyword in node.keywords:
        if keyword.arg is None or keyword.arg not in names or keyword.arg in given:
            message = refusal.format(count=len(node.args) + len(node.keywords), keyword=keyword.arg)
            named = [name for name in names if not name.startswith("*")]
            usual = f"`{ast.unparse(node.func)}` has no parameter `{keyword.arg}`{did_you_mean(keyword.arg, named)}"
            if keyword.arg in given:
                usual = f"`{ast.unparse(node.func)}` got multiple values for `{keyword.arg}`"
            stager.fail_type(node, message or usual, None if message else f"its parameters are {', '.join(named)}")
        given[keyword.arg], nodes[keyword.arg] = stage(stager, keyword.value), keyword.value
    required = [name for name in wanted if not name.endswith("?") and not name.startswith("*")]
    if any(name not in given for name in required) or any(name.isdecimal() for name in given):
        takes = str(len(wanted)) if len(required) == len(wanted) else f"{len(required)} to {len(wanted)}"
        usual = f"`{ast.unparse(node.func)}` takes {takes} arguments, got {len(given)}"
        stager.fail_type(node, refusal.format(count=len(given), keyword="") or usual)
    if len(node.keywords) > 1:  # staged in written order, bound in parameter order
        given = {name: given[name] for name in sorted(given, key=lambda name: name in names and names.index(name))}
    return Call(node, given, nodes)


def written(stager: Stager, node: ast.Call, parameters: str, refusal: str) -> list[ast.expr]:
    """The arguments of a call as written, in parameter order. The last parameter may end in `?`."""
    names = parameters.replace("?", "").split()
    given = dict(zip(names, node.args, strict=False))
    for keyword in node.keywords:
        if keyword.arg not in names or keyword.arg in given:
            stager.fail_type(node, refusal, f"its parameters are {' '.join(names)}")
        given[keyword.arg] = keyword.value
    missing = [name for name in parameters.split() if name not in given and not name.endswith("?")]
    if missing or len(node.args) > len(names):
        stager.fail_type(node, refusal)
    return [given[name] for name in names if name in given]


def positional_names(names: list[str]) -> Iterator[str]:
    """The names of positional arguments: those of the parameters, then the `*` parameter, then numbers."""
    for name in names:
        if name.startswith("*"):
            yield from (f"{name}{position}" for position in itertools.count())
        yield name
    yield from map(str, itertools.count(len(names)))


def unpacked(stager: Stager, node: ast.Starred) -> tuple[Staged, ...]:
    """The arguments of `*values`."""
    return tuple(item.unforced() for item in stage(stager, node.value).sequence(stager, node))


def dtype_argument(stager: Stager, staged: Staged, node: ast.AST) -> DType:
    dtype = staged.as_dtype(stager)
    if dtype is None:
        stager.fail_type(node, f"expected a dtype, got {staged.describe()}", "pass one, as in `sv.f32`")
    return dtype


def folded(values: Sequence[Staged], function: Callable[..., Any]) -> Staged | None:
    """The result of a function of compile-time numbers; None if it must be computed at run time."""
    numbers = [value.number() for value in values]
    if None in numbers:
        return None
    try:
        result = function(*numbers)
    except (ArithmeticError, ValueError, TypeError):
        return None
    return Static(result) if isinstance(result, (bool, int, float)) else None
