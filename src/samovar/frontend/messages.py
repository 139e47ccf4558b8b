"""`print`, `assert` and f-strings: text that is put together when the program runs, by Python's own formatting."""

from __future__ import annotations

import ast

from samovar.artifact import Hole, Site
from samovar.frontend.expressions import stage
from samovar.frontend.formatting import conversion_of, format_of
from samovar.frontend.operators import truth
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.static import Static
from samovar.frontend.stager import Stager
from samovar.ir import Value


class Message:
    """Text with holes, and the values that fill them."""

    def __init__(self, stager: Stager) -> None:
        self.stager = stager
        self.parts: list[str | Hole] = []
        self.values: list[Value] = []

    def text(self, text: str) -> None:
        if self.parts and isinstance(self.parts[-1], str):
            self.parts[-1] += text
        elif text:
            self.parts.append(text)

    def add_value(self, value: Value, node: ast.AST, conversion: str = "", form: str = "") -> None:
        """A run-time scalar, which fills a hole."""
        self.check_format(value, node, conversion, form)
        self.parts.append(Hole(len(self.values), conversion, form))
        self.values.append(value)

    def check_format(self, value: Value, node: ast.AST, conversion: str, form: str) -> None:
        """A format that does not go with the type of a value is an error now, and not when the value is printed."""
        assert value.type is not None
        example: object = {"float": 0.0, "bool": False}.get(value.type.kind, 0)
        try:
            format(str(example) if conversion else example, form)
        except (TypeError, ValueError) as problem:
            self.stager.fail_type(node, f"a value of type {value.type.name} cannot be formatted with `{form}`: {problem}")

    def add_expression(self, node: ast.expr) -> None:
        if isinstance(node, ast.JoinedStr):
            for piece in node.values:
                if isinstance(piece, ast.FormattedValue):
                    self.add_formatted(piece)
                else:
                    stage(self.stager, piece).write(self, piece, "", "")
        else:
            stage(self.stager, node).write(self, node, "", "")

    def add_formatted(self, node: ast.FormattedValue) -> None:
        value = stage(self.stager, node.value)
        value.write(self, node, conversion_of(node), format_of(self.stager, node))

    def site(self, kind: str) -> Site:
        types = tuple(value.type for value in self.values if value.type is not None)
        return Site(kind, tuple(self.parts), types, self.stager.call_path())


def stage_print(stager: Stager, node: ast.Call) -> Staged:
    """`print(...)`, with compile-time `sep` and `end`."""
    separators = {"sep": " ", "end": "\n"}
    for keyword in node.keywords:
        value = stage(stager, keyword.value)
        if keyword.arg not in separators or not isinstance(value, Static) or not isinstance(value.value, (str, type(None))):
            stager.fail(keyword.value, "`print` in a kernel takes only `sep` and `end`, as compile-time strings")
        separators[keyword.arg] = separators[keyword.arg] if value.value is None else value.value
    message = Message(stager)
    for position, argument in enumerate(node.args):
        message.text(separators["sep"] if position else "")
        message.add_expression(argument)
    message.text(separators["end"])
    stager.emit("print", None, tuple(message.values), message.site("print"))
    return Static(None)


def stage_assert(stager: Stager, node: ast.Assert) -> None:
    """Checked in debug mode only; otherwise it is not even looked at."""
    if not stager.context.debug:
        return
    condition = truth(stager, stage(stager, node.test), node.test)
    message = Message(stager)
    if node.msg is not None:
        message.add_expression(node.msg)
    else:
        message.text(ast.unparse(node.test))
    stager.emit("check", None, (condition, *message.values), message.site("assertion"))
