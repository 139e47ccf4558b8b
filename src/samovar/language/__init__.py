"""What can be written in a kernel: annotations, dtypes, options, and the functions that kernels and plain Python share."""

from __future__ import annotations

from samovar._door import door

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
    from samovar.language.functions import (
        acos,
        asin,
        atan,
        atan2,
        ceil,
        cos,
        cosh,
        exp,
        floor,
        isinf,
        isnan,
        log,
        round,
        rsqrt,
        sin,
        sinh,
        sqrt,
        tan,
        tanh,
    )
    from samovar.language.mathematics import (
        REGISTRY,
        acosh,
        asinh,
        atanh,
        cbrt,
        clamp,
        clz,
        copysign,
        degrees,
        e,
        erf,
        erfc,
        exp2,
        expm1,
        ffs,
        fma,
        fmod,
        fract,
        hypot,
        inf,
        log1p,
        log2,
        log10,
        mix,
        nan,
        pi,
        popcnt,
        radians,
        sign,
        step,
        trunc,
    )
    from samovar.language.options import DEFAULTS, LINE_OPTIONS, Options, do_lines_count
else:
    __getattr__, __dir__ = door(
        __name__,
        {
            "annotations": (
                "Annotation AnyAnnotation ArrayAnnotation BOUNDARIES DataclassAnnotation "
                "KernelSignature NoneAnnotation PYTHON_SCALARS ScalarAnnotation SignatureParameter "
                "TemplateAnnotation TupleAnnotation annotation_of_key signature_of specification"
            ),
            "dtypes": "as_dtype integer_range",
            "functions": (
                "acos asin atan atan2 ceil cos cosh exp floor isinf isnan log round rsqrt sin "
                "sinh sqrt tan tanh"
            ),
            "mathematics": (
                "REGISTRY acosh asinh atanh cbrt clamp clz copysign degrees e erf erfc exp2 expm1 ffs fma fmod "
                "fract hypot inf log10 log1p log2 mix nan pi popcnt radians sign step trunc"
            ),
            "options": "DEFAULTS LINE_OPTIONS Options do_lines_count",
        },
    )
