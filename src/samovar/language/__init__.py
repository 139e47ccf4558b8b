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
        Declaration,
        KernelSignature,
        NoneAnnotation,
        ScalarAnnotation,
        SignatureParameter,
        TemplateAnnotation,
        TensorAnnotation,
        TupleAnnotation,
        ViewAnnotation,
        annotation_of_key,
        from_plain,
        plainly,
        signature_of,
        specification,
        without_none,
    )
    from samovar.language.complex_numbers import (
        cconj,
        cdiv,
        cexp,
        cinv,
        clog,
        cmul,
        cpow,
        csqrt,
        fns,
        mod,
        rotation3d,
        vdir,
    )
    from samovar.language.dtypes import LONG_NAMES, as_dtype, foreign_dtype, integer_range
    from samovar.language.elsewhere import ELSEWHERE, KEYWORDS_ELSEWHERE
    from samovar.language.environment import VARIABLES, complaints, meant_option, option_variable
    from samovar.language.functions import GroupedIndices, box_of, is_library_function
    from samovar.language.geometry import (
        distance,
        eye,
        length,
        normalize,
        quat_conjugate,
        quat_from_axis_angle,
        quat_mul,
        quat_rotate,
        quat_to_matrix,
        reflect,
        refract,
        rot_by_axis,
        rot_yaw_pitch_roll,
        rotation2d,
        scale,
        smoothstep,
        translate,
    )
    from samovar.language.graph import GraphStatus, do_while, parallel, parallel_context
    from samovar.language.linear_algebra import (
        METHODS,
        cholesky,
        cross,
        determinant,
        dot,
        eig,
        inverse,
        make_spd,
        polar_decompose,
        qr,
        solve,
        svd,
        sym_eig,
    )
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
    from samovar.language.matrices import Matrix, Vector
    from samovar.language.matrix_types import (
        MatrixType,
        ivec2,
        ivec3,
        ivec4,
        mat2,
        mat3,
        mat4,
        matrix,
        uvec2,
        uvec3,
        uvec4,
        vec2,
        vec3,
        vec4,
        vector,
    )
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
    )
    from samovar.language.python_mathematics import load_python_mathematics
    from samovar.language.refused_annotation import RefusedAnnotation
    from samovar.language.simt import GPU_FUNCTIONS
    from samovar.language.struct_arrays import StructArray, StructField, StructNdarray, over_memory
    from samovar.language.struct_types import (
        MemoryLayout,
        StructArrayAnnotation,
        StructType,
        dataclass,
        of_key,
        struct,
    )
    from samovar.language.structs import Struct
else:
    __getattr__, __dir__ = _door(
        globals(),
        {
            "annotations": (
                "Annotation AnyAnnotation ArrayAnnotation BOUNDARIES DataclassAnnotation Declaration "
                "KernelSignature NoneAnnotation PYTHON_SCALARS ScalarAnnotation SignatureParameter "
                "TemplateAnnotation TensorAnnotation TupleAnnotation ViewAnnotation annotation_of_key from_plain plainly "
                "signature_of specification without_none"
            ),
            "complex_numbers": "cconj cdiv cexp cinv clog cmul cpow csqrt fns mod rotation3d vdir",
            "elsewhere": "ELSEWHERE KEYWORDS_ELSEWHERE",
            "graph": "GraphStatus do_while parallel parallel_context",
            "dtypes": "LONG_NAMES as_dtype foreign_dtype integer_range",
            "functions": "GroupedIndices box_of is_library_function",
            "geometry": (
                "distance eye length normalize quat_conjugate quat_from_axis_angle quat_mul quat_rotate quat_to_matrix "
                "reflect refract rot_by_axis rot_yaw_pitch_roll rotation2d scale smoothstep translate"
            ),
            "linear_algebra": (
                "METHODS cholesky cross determinant dot eig inverse make_spd polar_decompose qr solve svd sym_eig"
            ),
            "mathematics": (
                "DEGREES_PER_RADIAN RADIANS_PER_DEGREE REGISTRY TABLED clamp degrees e fract inf mix nan pi radians sign "
                "step"
            ),
            "matrices": "Matrix Vector",
            "matrix_types": "MatrixType ivec2 ivec3 ivec4 mat2 mat3 mat4 matrix uvec2 uvec3 uvec4 vec2 vec3 vec4 vector",
            "operations": "OPERATIONS Row",
            "environment": "VARIABLES complaints meant_option option_variable",
            "options": "CUTS DEFAULTS LINE_OPTIONS SWITCHES Options do_lines_count do_messages_count options_in_force"
            " put_in_force",
            "struct_arrays": "StructArray StructField StructNdarray over_memory",
            "struct_types": "MemoryLayout StructArrayAnnotation StructType dataclass of_key struct",
            "structs": "Struct",
            "refused_annotation": "RefusedAnnotation",
            "simt": "GPU_FUNCTIONS",
            "python_mathematics": "load_python_mathematics",
            "promotion": "DTYPES FLOATS INTEGERS holding integer_type is_float is_integer loop_type loses promote",
        },
    )
