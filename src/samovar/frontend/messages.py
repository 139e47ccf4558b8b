"""`print`, `assert` and the text in them (f-strings, `format`, `%`): put together at run time, by Python itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from samovar._native import DType, f64, i64, u1
from samovar.artifact import Hole, Site
from samovar.errors import is_own_file
from samovar.frontend.expressions import changes_something, stage, stage_marked
from samovar.frontend.formatting import conversion_of, format_of
from samovar.frontend.operators import BINARY, binary, truth
from samovar.frontend.scalars import convert
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static
from samovar.frontend.staged.table import Table
from samovar.frontend.stager import Stager
from samovar.frontend.text_templates import Blank, of_braces, of_percent
from samovar.ir import If, Region, Value, columns_of
from samovar.language import is_float


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
        assert value.type is not None
        if not (form or conversion):
            form = self.usual_form(value.type)
        self.check_format(value, node, conversion, form)
        self.parts.append(Hole(len(self.values), conversion, form))
        self.values.append(value)

    def usual_form(self, dtype: DType) -> str:
        """The format of a number for which the program has none: Python's, or that of C."""
        if dtype.kind not in ("float", "bool") or self.stager.context.lens.options.printed_numbers != "c":
            return ""
        return "d" if dtype is u1 else ".12f" if dtype is f64 else ".6f"

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
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            self.add_format(node, stage(self.stager, node.func.value))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            self.add_percent(node, stage(self.stager, node.left))
        else:
            stage(self.stager, node).write(self, node, "", "")

    def add_format(self, node: ast.Call, owner: Staged) -> None:
        """`"{} {name}".format(x, name=y)`"""
        assert isinstance(node.func, ast.Attribute)
        if not isinstance(owner, Static) or not isinstance(owner.value, str):
            owner.attribute(self.stager, "format", node.func).call(self.stager, node).write(self, node, "", "")
            return
        given: dict[int | str, Staged] = dict(enumerate(format_positions(self.stager, node)))
        for keyword in node.keywords:
            if keyword.arg is None:
                self.stager.fail(keyword.value, "`**` in a call is not available in kernels", "name each argument")
            given[keyword.arg] = stage(self.stager, keyword.value)
        self.add_parts(of_braces(owner.value), given, node)

    def add_percent(self, node: ast.BinOp, left: Staged) -> None:
        """`"%d %s" % (x, y)`, and the remainder of numbers."""
        stager = self.stager
        right = stage(stager, node.right)
        if not isinstance(left, Static) or not isinstance(left.value, str):
            operands = (left.as_operand(stager, node), right.as_operand(stager, node))
            binary(stager, BINARY[ast.Mod], *operands, node).write(self, node, "", "")
            return
        values = right.as_operand(stager, node)
        if isinstance(values, Table):
            named: dict[int | str, Staged] = {key: value for key, (_, value) in values.entries.items()}
            self.add_parts(of_percent(left.value), named, node)
            return
        listed = values.items if isinstance(values, Items) and not values.is_list else (values,)
        self.add_parts(of_percent(left.value), dict(enumerate(listed)), node, all_used=True)

    def add_parts(
        self, parts: Iterator[str | Blank], given: Mapping[int | str, Staged], node: ast.AST, all_used: bool = False
    ) -> None:
        """Text with values in its places."""
        used = set()
        try:
            for part in parts:
                if isinstance(part, str):
                    self.text(part)
                    continue
                if part.key not in given:
                    what = f"a value for `{part.key}`" if isinstance(part.key, str) else f"{part.key + 1} values or more"
                    self.stager.fail_type(node, f"this text needs {what}, and {len(given)} are given")
                used.add(part.key)
                value = given[part.key]
                if part.whole and value.is_number():
                    value = whole_number(self.stager, value, node)
                value.write(self, node, part.conversion, part.form)
        except ValueError as problem:
            self.stager.fail_type(node, f"this text cannot be put together: {problem}")
        if all_used and len(used) < len(given):
            self.stager.fail_type(node, f"{len(given)} values are given, and the text has places for {len(used)}")

    def add_formatted(self, node: ast.FormattedValue) -> None:
        value = stage(self.stager, node.value)
        value.write(self, node, conversion_of(node), format_of(self.stager, node))

    def site(self, kind: str) -> Site:
        types = tuple(value.type for value in self.values if value.type is not None)
        return Site(kind, tuple(self.parts), types, self.stager.call_path(), columns_of(self.stager.line))


def format_positions(stager: Stager, node: ast.Call) -> Iterator[Staged]:
    """The arguments of `format` by position."""
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            yield from (item.unforced() for item in stage(stager, argument.value).sequence(stager, argument))
        else:
            yield stage(stager, argument)


def whole_number(stager: Stager, value: Staged, node: ast.AST) -> Staged:
    """A number without its fraction, which `%d` does not write."""
    known = value.number()
    if known is not None:
        return Static(int(known))
    return Scalar(convert(stager, value.scalar(stager, node), i64)) if is_float(value.type(stager, node)) else value


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
    """The check is for debug mode. The condition is computed in any case if it may do more than that, as in Python without
    `-O` and in the peers: a program gives the same results with and without debug mode. Functions of ours check what they
    are given always."""
    if not stager.context.debug and not is_own_file(stager.frame().file):
        if changes_something(node.test):
            stage(stager, node.test)
        return
    condition = truth(stager, stage_marked(stager, node.test), node.test)
    if node.msg is None or not changes_something(node.msg):
        check(stager, condition, node)
        return
    failed = Region()  # where alone the message is put together
    with stager.into(failed):
        check(stager, condition, node)
    stager.append(If(stager.emit("not", u1, (condition,)), failed, Region()))


def check(stager: Stager, condition: Value, node: ast.Assert) -> None:
    message = Message(stager)
    if node.msg is not None:
        message.add_expression(node.msg)
    else:
        message.text(ast.unparse(node.test))
    with stager.at(node.test):
        stager.emit("check", None, (condition, *message.values), message.site("assertion"))
