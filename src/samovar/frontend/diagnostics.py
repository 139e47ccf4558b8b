"""Errors and warnings about the source of a function."""

from __future__ import annotations

import ast
from typing import NoReturn

from samovar import errors
from samovar.artifact import Frame, Notice, give
from samovar.frontend.context import KernelContext
from samovar.lens import FunctionRef


class Reporter:
    """Reports problems at nodes of one function, with the calls that led to it."""

    def __init__(self, context: KernelContext, function: FunctionRef, frames: tuple[Frame, ...]) -> None:
        self.context = context
        self.function = function
        self.source = function.source()
        self.frames = frames  # callers, innermost first
        self.caller: tuple[Reporter, ast.AST] | None = None  # the caller of a library function: errors are shown there

    def error(
        self,
        node: ast.AST,
        message: str,
        advice: str | None = None,
        kind: type[errors.SamovarError] = errors.SamovarSyntaxError,
    ) -> errors.SamovarError:
        if self.caller is not None:
            stager, call = self.caller
            return stager.error(call, message, advice, kind)
        return kind(errors.at(self.source, node, message, advice, self.frames))

    def fail(
        self,
        node: ast.AST,
        message: str,
        advice: str | None = None,
        kind: type[errors.SamovarError] = errors.SamovarSyntaxError,
    ) -> NoReturn:
        raise self.error(node, message, advice, kind)

    def fail_type(self, node: ast.AST, message: str, advice: str | None = None) -> NoReturn:
        raise self.error(node, message, advice, errors.SamovarTypeError)

    def fail_signature(self, node: ast.AST, message: str, advice: str | None = None) -> NoReturn:
        """Raise an error about a mismatch in number or names."""
        raise self.error(node, message, advice, errors.SamovarSignatureError)

    def fail_axes(self, node: ast.AST, message: str, advice: str | None = None) -> NoReturn:
        """Raise an error about the number of indices."""
        raise self.error(node, message, advice, errors.SamovarAxesError)

    def warn(self, node: ast.AST, message: str, advice: str | None = None) -> None:
        """Issue a warning once per location. It is stored with the kernel, for processes that do not compile it. With
        advice, it also shows the source."""
        if self.caller is not None:
            stager, call = self.caller
            stager.warn(call, message, advice)
            return
        if advice is not None:
            message = "\n".join([message, *errors.pointed_at(self.source.lines, node), f"  help: {advice}"])
        context, site = self.context, (self.source.file, line_of(node), message)
        context.require_float()
        if context.wanted_types:
            return  # staging restarts
        if site not in context.notices:
            context.notices[site] = Notice(message, self.function.path, *self.function.place_of(site[1]))
        if site not in context.decisions.warned and context.lens.settings.log_level != "error":
            context.decisions.warned.add(site)
            give(*site)


def line_of(node: ast.AST) -> int:
    return node.lineno if isinstance(node, (ast.expr, ast.stmt)) else 0
