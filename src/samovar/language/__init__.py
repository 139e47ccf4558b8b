"""What can be written in a kernel: annotations, dtypes, options, and the functions that kernels and plain Python share."""

from __future__ import annotations

from samovar import _door

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.language.annotations import (
        BOUNDARIES,
        PYTHON_SCALARS,
        Annotation,
        AnyAnnotation,
        ArrayAnnotation,
        DataclassAnnotation,
        KernelSignature,
        NoneAnnotation,
        ScalarAnnotation,
        SignatureParameter,
        TemplateAnnotation,
        TupleAnnotation,
        annotation_of_key,
        signature_of,
        specification,
    )
    from samovar.language.dtypes import as_dtype, integer_range
    from samovar.language.graph import GraphStatus, do_while, parallel, parallel_context
    from samovar.language.mathematics import (
        DEGREES_PER_RADIAN,
        RADIANS_PER_DEGREE,
        REGISTRY,
        TABLED,
        clamp,
        degrees,
        e,
        fract,
        inf,
        mix,
        nan,
        pi,
        radians,
        sign,
        step,
    )
    from samovar.language.operations import OPERATIONS, Row
    from samovar.language.options import DEFAULTS, LINE_OPTIONS, Options, do_lines_count
else:
    __getattr__, __dir__ = _door(
        globals(),
        {
            "annotations": (
                "Annotation AnyAnnotation ArrayAnnotation BOUNDARIES DataclassAnnotation "
                "KernelSignature NoneAnnotation PYTHON_SCALARS ScalarAnnotation SignatureParameter "
                "TemplateAnnotation TupleAnnotation annotation_of_key signature_of specification"
            ),
            "graph": "GraphStatus do_while parallel parallel_context",
            "dtypes": "as_dtype integer_range",
            "mathematics": (
                "DEGREES_PER_RADIAN RADIANS_PER_DEGREE REGISTRY TABLED clamp degrees e fract inf mix nan pi radians sign "
                "step"
            ),
            "operations": "OPERATIONS Row",
            "options": "DEFAULTS LINE_OPTIONS Options do_lines_count",
        },
    )
