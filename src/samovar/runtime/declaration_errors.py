"""Errors in the declaration of a kernel or func, reported with their location.

Loaded on first use: a warm start does not need it.
"""

from __future__ import annotations

from samovar.errors import SamovarSignatureError, SamovarSyntaxError, at, shown_place

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from types import FunctionType

    from samovar.errors import SamovarError
    from samovar.language import UnsupportedAnnotation


def annotation_error(function: FunctionType, unsupported: UnsupportedAnnotation) -> SamovarError:
    """The error for an unsupported annotation."""
    return declaration_error(function, unsupported.parameter, unsupported.message, unsupported.advice, SamovarSignatureError)


def declaration_error(
    function: FunctionType, name: str | None, message: str, advice: str, error: type[SamovarError] = SamovarSyntaxError
) -> SamovarError:
    """The error for a parameter, for the result (`return`), or for the whole declaration."""
    from samovar.lens import function_source

    try:
        source = function_source(function)
    except SamovarSyntaxError:  # no source
        code = function.__code__
        return error(f"{message}\n  --> {shown_place(code.co_filename, code.co_firstlineno)}\n  help: {advice}")
    return error(at(source, _node(source.node, name), message, advice))


def _node(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str | None) -> ast.AST:
    if name == "return" and function.returns is not None:
        return function.returns
    given = function.args
    for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if each is not None and each.arg == name:
            return each
    return function
