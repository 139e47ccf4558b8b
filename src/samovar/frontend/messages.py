"""`print`, `assert` and the text in them (f-strings, `format`, `%`), formatted at run time by Python."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import singledispatch

from samovar._native import DType, f64, i64, u1
from samovar.artifact import PRINTF, Hole, Site
from samovar.errors import is_own_file
from samovar.frontend.dispatch import call_value, stage, stage_marked
from samovar.frontend.formatting import conversion_of, format_of, formatted
from samovar.frontend.operators import BINARY, binary, truth
from samovar.frontend.scalars import convert
from samovar.frontend.staged.base import Staged
from samovar.frontend.staged.complex import Complex
from samovar.frontend.staged.items import Items
from samovar.frontend.staged.matrix import Matrix, MatrixValue
from samovar.frontend.staged.scalar import Scalar
from samovar.frontend.staged.static import Static, TextFormat
from samovar.frontend.staged.struct import StructValue
from samovar.frontend.staged.table import Table
from samovar.frontend.stager import Stager
from samovar.frontend.syntax import changes_something
from samovar.frontend.text_templates import Blank, of_braces, of_percent, printf_spec
from samovar.ir import If, Region, Value, columns_of
from samovar.language import is_float


class Message:
    """Text with placeholders, and the values that fill them."""

    def __init__(self, stager: Stager) -> None:
        self.stager = stager
        self.parts: list[str | Hole] = []
        self.values: list[Value] = []

    def text(self, text: str) -> None:
        if self.parts and isinstance(self.parts[-1], str):
            self.parts[-1] += text
        elif text:
            self.parts.append(text)

    def add_value(self, value: Value, node: ast.AST, conversion: str = "", spec: str = "") -> None:
        """Add a run-time scalar in a placeholder."""
        assert value.type is not None
        conversion, spec = self.format_of_number(value.type, conversion, spec)
        self.check_format(value, node, conversion, spec)
        self.parts.append(Hole(len(self.values), conversion, spec))
        self.values.append(value)

    def usual_form(self, dtype: DType) -> str:
        """The default format of a number: Python's, or that of C."""
        if dtype.kind not in ("float", "bool") or self.stager.context.lens.options.printed_numbers != "c":
            return ""
        return "d" if dtype is u1 else ".12f" if dtype is f64 else ".6f"

    def format_of_number(self, dtype: DType, conversion: str, spec: str) -> tuple[str, str]:
        """The conversion and format of a number: as written, or those of C."""
        if conversion:
            return conversion, spec
        if not spec:
            return "", self.usual_form(dtype)
        c = printf_spec(spec, dtype) if self.stager.context.lens.options.printed_numbers == "c" else None
        return ("", spec) if c is None else (PRINTF, c)

    def check_format(self, value: Value, node: ast.AST, conversion: str, spec: str) -> None:
        """Check a format against the type of a value now, not when the value is printed."""
        assert value.type is not None
        example: object = {"float": 0.0, "bool": False}.get(value.type.kind, 0)
        try:
            if conversion == PRINTF:
                return
            format(str(example) if conversion else example, spec)
        except (TypeError, ValueError) as problem:
            self.stager.fail_type(node, f"a value of type {value.type.name} cannot be formatted with `{spec}`: {problem}")

    def add_expression(self, node: ast.expr) -> None:
        if isinstance(node, ast.JoinedStr):
            for piece in node.values:
                if isinstance(piece, ast.FormattedValue):
                    self.add_formatted(piece)
                else:
                    write(stage(self.stager, piece), self, piece, "", "")
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
            self.add_format(node, stage(self.stager, node.func.value))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
            self.add_percent(node, stage(self.stager, node.left))
        else:
            write(stage(self.stager, node), self, node, "", "")

    def add_format(self, node: ast.Call, owner: Staged) -> None:
        """`"{} {name}".format(x, name=y)`"""
        assert isinstance(node.func, ast.Attribute)
        if not isinstance(owner, Static) or not isinstance(owner.value, str):
            write(call_value(owner.attribute(self.stager, "format", node.func), self.stager, node), self, node, "", "")
            return
        given: dict[int | str, Staged] = dict(enumerate(format_positions(self.stager, node)))
        for keyword in node.keywords:
            if keyword.arg is None:
                self.stager.fail(keyword.value, "`**` in a call is not supported in kernels", "pass each argument by name")
            given[keyword.arg] = stage(self.stager, keyword.value)
        self.add_parts(of_braces(owner.value), given, node)

    def add_percent(self, node: ast.BinOp, left: Staged) -> None:
        """`"%d %s" % (x, y)`, and the remainder of numbers."""
        stager = self.stager
        right = stage(stager, node.right)
        if not isinstance(left, Static) or not isinstance(left.value, str):
            operands = (left.as_operand(stager, node), right.as_operand(stager, node))
            write(binary(stager, BINARY[ast.Mod], *operands, node), self, node, "", "")
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
        """Add text with values in its placeholders."""
        used = set()
        try:
            for part in parts:
                if isinstance(part, str):
                    self.text(part)
                    continue
                if part.key not in given:
                    what = f"a value for `{part.key}`" if isinstance(part.key, str) else f"at least {part.key + 1} values"
                    self.stager.fail_type(node, f"this text requires {what}, got {len(given)}")
                used.add(part.key)
                value = given[part.key]
                if part.whole and value.is_number():
                    value = whole_number(self.stager, value, node)
                write(value, self, node, part.conversion, part.spec)
        except ValueError as problem:
            self.stager.fail_type(node, f"this text cannot be formatted: {problem}")
        if all_used and len(used) < len(given):
            self.stager.fail_type(node, f"{len(given)} values are given, but the text has places for {len(used)}")

    def add_formatted(self, node: ast.FormattedValue) -> None:
        value = stage(self.stager, node.value)
        write(value, self, node, conversion_of(node), format_of(self.stager, node))

    def site(self, kind: str) -> Site:
        types = tuple(value.type for value in self.values if value.type is not None)
        return Site(kind, tuple(self.parts), types, self.stager.call_path(), columns_of(self.stager.line))


# --- values in a message


@singledispatch
def write(value: Staged, message: Message, node: ast.AST, conversion: str, spec: str) -> None:
    """Add a value to a message that is formatted at run time. Kinds other than run-time numbers register a rule."""
    message.add_value(value.scalar(message.stager, node), node, conversion, spec)


@write.register(Static)
def write_constant(value: Static, message: Message, node: ast.AST, conversion: str, spec: str) -> None:
    if value.value.__class__ in (bool, int, float):
        context = message.stager.context
        dtype = {bool: u1, int: context.default_ip, float: context.default_fp}[value.value.__class__]
        conversion, spec = message.format_of_number(dtype, conversion, spec)
        if conversion == PRINTF:
            message.text(spec % value.value)
            return
    message.text(formatted(value, message.stager, conversion, spec, node))


@write.register(Items)
def write_items(value: Items, message: Message, node: ast.AST, conversion: str, spec: str) -> None:
    message.text("[" if value.is_list else "(")
    for position, item in enumerate(value.items):
        message.text(", " if position else "")
        write(item, message, node, conversion or ("" if spec else "r"), spec)
    message.text("]" if value.is_list else ",)" if len(value.items) == 1 else ")")


@write.register(Complex)
def write_complex(value: Complex, message: Message, node: ast.AST, conversion: str, spec: str) -> None:
    """Like Python: in parentheses, unless it is formatted."""
    dtype = value.part_type(message.stager, node)
    real, imag = value.values(message.stager, dtype, node)
    message.text("" if spec else "(")
    message.add_value(real, node, "", spec)
    message.add_value(imag, node, "", spec if spec[:1] in ("+", "-", " ") else f"+{spec}")
    message.text("j" if spec else "j)")


@write.register(MatrixValue)
def write_matrix(value: MatrixValue, message: Message, node: ast.AST, conversion: str, spec: str) -> None:
    write_nested(message, value.shape, iter(value.entries(message.stager)), node, conversion, spec)


def write_nested(
    message: Message, shape: tuple[int, ...], entries: Iterator[Staged], node: ast.AST, conversion: str, spec: str
) -> None:
    """Write it like nested lists."""
    message.text("[")
    for position in range(shape[0]):
        message.text(", " if position else "")
        if len(shape) > 1:
            write_nested(message, shape[1:], entries, node, conversion, spec)
        else:
            write(next(entries), message, node, conversion, spec)
    message.text("]")


@write.register(StructValue)
def write_struct(value: StructValue, message: Message, node: ast.AST, conversion: str, spec: str) -> None:
    message.text(f"{value.struct.kind.name}(")
    for position, (name, member) in enumerate(value.named()):
        message.text(f"{', ' if position else ''}{name}=")
        write(member, message, node, conversion or ("" if spec else "r"), spec)
    message.text(")")


@write.register(Table)
def write_table(value: Table, message: Message, node: ast.AST, conversion: str, spec: str) -> None:
    message.text("{")
    for position, (key, each) in enumerate(value.entries.values()):
        message.text(", " if position else "")
        write(key, message, node, "r", "")
        message.text(": ")
        write(each, message, node, conversion or ("" if spec else "r"), spec)
    message.text("}")


@singledispatch
def write_static(value: Staged, message: Message, node: ast.AST) -> None:
    """Add a value to the text of `static_print`: a run-time value as its type."""
    message.text(value.describe())


@write_static.register(Static)
def write_known(value: Static, message: Message, node: ast.AST) -> None:
    message.text(formatted(value, message.stager, "", "", node))


@write_static.register(Items)
@write_static.register(Table)
def write_contents(value: Staged, message: Message, node: ast.AST) -> None:
    write(value, message, node, "", "")


@write_static.register(Scalar)
def write_type(value: Scalar, message: Message, node: ast.AST) -> None:
    message.text(f"<{value.dtype.name}>")


@write_static.register(MatrixValue)
@write_static.register(StructValue)
def write_description(value: Staged, message: Message, node: ast.AST) -> None:
    message.text(f"<{value.describe()}>")


@write_static.register(Matrix)
def write_known_matrix(value: Matrix, message: Message, node: ast.AST) -> None:
    (write_description if value.is_run_time() else write_contents)(value, message, node)


@call_value.register(TextFormat)
def call_format(value: TextFormat, stager: Stager, node: ast.Call) -> Staged:
    """`"…".format(…)` outside `print` and `assert`: a compile-time string."""
    message = Message(stager)
    message.add_format(node, value.text)
    if message.values:
        stager.fail(
            node,
            "text outside `print` and `assert` cannot contain run-time values",
            "only text in `print` and `assert` can contain run-time values",
        )
    return Static("".join(map(str, message.parts)))


# --- `print` and `assert`


def format_positions(stager: Stager, node: ast.Call) -> Iterator[Staged]:
    """The positional arguments of `format`."""
    for argument in node.args:
        if isinstance(argument, ast.Starred):
            yield from (item.unforced() for item in stage(stager, argument.value).sequence(stager, argument))
        else:
            yield stage(stager, argument)


def whole_number(stager: Stager, value: Staged, node: ast.AST) -> Staged:
    """A number truncated as `%d` does."""
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
    """Stage an `assert`, which is checked in debug mode. If the condition may have side effects it is always evaluated, as
    in Python without `-O` and in other frameworks: results are the same with and without debug mode. Library functions
    always check their arguments."""
    if not stager.context.debug and not is_own_file(stager.frame().file):
        if changes_something(node.test):
            stage(stager, node.test)
        return
    condition = truth(stager, stage_marked(stager, node.test), node.test)
    if node.msg is None or not changes_something(node.msg):
        check(stager, condition, node)
        return
    failed = Region()  # the only place where the message is formatted
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
