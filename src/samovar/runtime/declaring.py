"""What is wrong with the declaration of a kernel or func, said at the place where it is written.

Loaded when something is: a process that starts warm has no time for it.
"""

from __future__ import annotations

from samovar.errors import SamovarSignatureError, SamovarSyntaxError, at

TYPE_CHECKING = False
if TYPE_CHECKING:
    import ast
    from types import FunctionType

    from samovar.errors import SamovarError
    from samovar.language import RefusedAnnotation


def annotation_error(function: FunctionType, refused: RefusedAnnotation) -> SamovarError:
    """The error about an annotation that cannot be resolved."""
    return declaration_error(function, refused.parameter, refused.message, refused.advice, SamovarSignatureError)


def declaration_error(
    function: FunctionType, name: str | None, message: str, advice: str, error: type[SamovarError] = SamovarSyntaxError
) -> SamovarError:
    """The error about a parameter, about the result (`return`), or about the whole."""
    from samovar.lens import function_source

    try:
        source = function_source(function)
    except SamovarSyntaxError:  # there is no text
        code = function.__code__
        return error(f"{message}\n  --> {code.co_filename}:{code.co_firstlineno}\n  help: {advice}")
    return error(at(source, _node(source.node, name), message, advice))


def _node(function: ast.FunctionDef | ast.AsyncFunctionDef, name: str | None) -> ast.AST:
    if name == "return" and function.returns is not None:
        return function.returns
    given = function.args
    for each in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg):
        if each is not None and each.arg == name:
            return each
    return function
