"""The members that `@sv.dataclass` adds to a class, for mypy, which does not analyze class decorators by itself.

    [tool.mypy]
    plugins = ["samovar.mypy_plugin"]

Nothing in Samovar imports this module.
"""

from __future__ import annotations

from collections.abc import Callable

from mypy.nodes import ARG_NAMED_OPT, ARG_OPT, ARG_POS, Argument, Var
from mypy.plugin import ClassDefContext, Plugin
from mypy.plugins.common import add_method_to_class
from mypy.plugins.dataclasses import dataclass_class_maker_callback, dataclass_tag_callback
from mypy.types import AnyType, TypeOfAny

#: Method of the class → its parameters with the kind of each, and its result.
METHODS = {
    "field": (
        {"shape": ARG_OPT, "order": ARG_NAMED_OPT, "offset": ARG_NAMED_OPT, "needs_grad": ARG_NAMED_OPT,
         "name": ARG_NAMED_OPT, "layout": ARG_NAMED_OPT},
        "samovar.values.struct_arrays.StructField",
    ),
    "ndarray": (
        {"shape": ARG_POS, "needs_grad": ARG_NAMED_OPT, "layout": ARG_NAMED_OPT},
        "samovar.values.struct_arrays.StructNdarray",
    ),
}  # fmt: skip


def add_members(context: ClassDefContext) -> bool:
    """Add the members of a struct class: a dataclass with constructors of fields and arrays."""
    is_done = dataclass_class_maker_callback(context)
    anything = AnyType(TypeOfAny.explicit)
    for name, (parameters, result) in METHODS.items():
        made = context.api.named_type_or_none(result)
        if made is None:
            return False
        arguments = [Argument(Var(each, anything), anything, None, kind) for each, kind in parameters.items()]
        add_method_to_class(context.api, context.cls, name, arguments, made, is_classmethod=True)
    return is_done


class SamovarPlugin(Plugin):
    """Handles the decorators of Samovar."""

    def get_class_decorator_hook(self, fullname: str) -> Callable[[ClassDefContext], None] | None:
        return dataclass_tag_callback if fullname == "samovar.dataclass" else None

    def get_class_decorator_hook_2(self, fullname: str) -> Callable[[ClassDefContext], bool] | None:
        return add_members if fullname == "samovar.dataclass" else None


def plugin(version: str) -> type[Plugin]:
    """The entry point that mypy calls."""
    return SamovarPlugin
