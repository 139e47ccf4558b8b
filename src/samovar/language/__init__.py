"""What can be written in a kernel: annotations, dtypes, options, operations, and functions of numbers."""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.language.annotations import (
        BOUNDARIES,
        PYTHON_SCALARS,
        Annotation,
        AnyAnnotation,
        ArrayAnnotation,
        DataclassAnnotation,
        Declaration,
        KernelSignature,
        NoneAnnotation,
        ScalarAnnotation,
        SignatureParameter,
        TemplateAnnotation,
        TensorAnnotation,
        TupleAnnotation,
        ViewAnnotation,
        default_type,
        evaluated,
        from_plain,
        plainly,
        signature_of,
        specification,
        without_none,
    )
    from samovar.language.derivative_rules import detach, surrogate, uses_surrogates
    from samovar.language.dtypes import LONG_NAMES, as_dtype, complex_type, foreign_dtype, integer_range, part_type
    from samovar.language.environment import VARIABLES, complaints, meant_option, option_variable
    from samovar.language.foreign_names import ELSEWHERE, KEYWORDS_ELSEWHERE
    from samovar.language.functions import (
        REGISTRY,
        GroupedIndices,
        bit_cast,
        box_of,
        cast,
        is_library_function,
        library,
        max,
        min,
        ndrange,
        select,
        static,
        static_assert,
    )
    from samovar.language.graph import GraphStatus, do_while, parallel, parallel_context
    from samovar.language.mathematics import (
        DEGREES_PER_RADIAN,
        RADIANS_PER_DEGREE,
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
    from samovar.language.missing_name import MissingName
    from samovar.language.numba_options import serial_in_numba
    from samovar.language.operations import OPERATIONS, Row
    from samovar.language.options import (
        CUTS,
        DEFAULTS,
        LINE_OPTIONS,
        SWITCHES,
        Options,
        do_lines_count,
        do_messages_count,
        options_in_force,
        put_in_force,
    )
    from samovar.language.promotion import (
        DTYPES,
        FLOATS,
        INTEGERS,
        holding,
        integer_type,
        is_float,
        is_integer,
        loop_type,
        loses,
        promote,
        value_type,
    )
    from samovar.language.simt import GPU_FUNCTIONS
    from samovar.language.targets import baselines, can_run, target_names, target_processor
    from samovar.language.unsupported_annotation import UnsupportedAnnotation
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "annotations": (
                "Annotation AnyAnnotation ArrayAnnotation BOUNDARIES DataclassAnnotation Declaration KernelSignature "
                "NoneAnnotation PYTHON_SCALARS ScalarAnnotation SignatureParameter TemplateAnnotation "
                "TensorAnnotation TupleAnnotation ViewAnnotation default_type evaluated from_plain plainly "
                "signature_of specification without_none"
            ),
            "derivative_rules": "detach surrogate uses_surrogates",
            "dtypes": "LONG_NAMES as_dtype complex_type foreign_dtype integer_range part_type",
            "environment": "VARIABLES complaints meant_option option_variable",
            "foreign_names": "ELSEWHERE KEYWORDS_ELSEWHERE",
            "functions": (
                "GroupedIndices REGISTRY bit_cast box_of cast is_library_function library max min ndrange select static "
                "static_assert"
            ),
            "graph": "GraphStatus do_while parallel parallel_context",
            "mathematics": (
                "DEGREES_PER_RADIAN RADIANS_PER_DEGREE TABLED clamp degrees e fract inf mix nan pi radians sign step"
            ),
            "missing_name": "MissingName",
            "numba_options": "serial_in_numba",
            "operations": "OPERATIONS Row",
            "options": (
                "CUTS DEFAULTS LINE_OPTIONS Options SWITCHES do_lines_count do_messages_count options_in_force "
                "put_in_force"
            ),
            "promotion": (
                "DTYPES FLOATS INTEGERS holding integer_type is_float is_integer loop_type loses promote value_type"
            ),
            "simt": "GPU_FUNCTIONS",
            "targets": "baselines can_run target_names target_processor",
            "unsupported_annotation": "UnsupportedAnnotation",
        },
    )
