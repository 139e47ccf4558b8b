"""Annotations from their `key()`, as traces and artifacts store them."""

from __future__ import annotations

from samovar.language import ArrayAnnotation, ScalarAnnotation, ViewAnnotation

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from samovar.language import Annotation


def annotation_of_key(key: tuple[Any, ...]) -> Annotation:
    """The annotation of a number, a vector, a matrix, a struct, an array or a view, from its `key()`."""
    if key[0] in ("StructType", "StructArrayAnnotation"):
        return of_key(key)
    if key[0] == "MatrixType":
        from samovar.values.matrix_types import MatrixType

        return MatrixType(*key[1:])
    if key[0] == "ScalarAnnotation":
        return ScalarAnnotation(**dict(zip(ScalarAnnotation.__slots__, key[1:], strict=True)))
    if key[0] == "ViewAnnotation":
        parts = dict(zip(ViewAnnotation.__slots__, key[1:], strict=True))
        struct = parts.pop("struct")
        return ViewAnnotation(**parts, struct=None if struct is None else annotation_of_key(struct))
    return ArrayAnnotation(**dict(zip(ArrayAnnotation.__slots__, key[1:], strict=True)))


def of_key(key: tuple[Any, ...]) -> Annotation:
    """A struct type without methods, or the annotation of an array of structs, from its `key()`."""
    from samovar.values.struct_types import StructArrayAnnotation, StructType

    if key[0] == "StructArrayAnnotation":
        _, boundary, ndim, needs_grad, inner = key
        struct = of_key(inner)
        assert isinstance(struct, StructType)
        return StructArrayAnnotation(struct, ndim, needs_grad, boundary)
    _, name, members = key
    return StructType(name, tuple((member, annotation_of_key(kind), default) for member, kind, default in members))
