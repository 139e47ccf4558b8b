"""The values of kernels and plain Python besides numbers: vectors, matrices, structs, arrays of structs, linear algebra."""

from __future__ import annotations

from samovar import _lazy_exports

TYPE_CHECKING = False
if TYPE_CHECKING:
    from samovar.values.annotation_keys import annotation_of_key, of_key
    from samovar.values.complex_numbers import cconj, cdiv, cexp, cinv, clog, cmul, cpow, csqrt, fns, mod, rotation3d, vdir
    from samovar.values.geometry import (
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
    from samovar.values.linear_algebra import (
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
    from samovar.values.matrices import Matrix, Vector
    from samovar.values.matrix_types import (
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
    from samovar.values.python_mathematics import load_python_mathematics
    from samovar.values.struct_arrays import StructArray, StructField, StructNdarray, over_memory
    from samovar.values.struct_types import MemoryLayout, StructArrayAnnotation, StructBase, StructType, dataclass, struct
    from samovar.values.structs import Struct
else:
    __getattr__, __dir__ = _lazy_exports(
        globals(),
        {
            "annotation_keys": "annotation_of_key of_key",
            "complex_numbers": "cconj cdiv cexp cinv clog cmul cpow csqrt fns mod rotation3d vdir",
            "geometry": (
                "distance eye length normalize quat_conjugate quat_from_axis_angle quat_mul quat_rotate "
                "quat_to_matrix reflect refract rot_by_axis rot_yaw_pitch_roll rotation2d scale smoothstep translate"
            ),
            "linear_algebra": (
                "METHODS cholesky cross determinant dot eig inverse make_spd polar_decompose qr solve svd sym_eig"
            ),
            "matrices": "Matrix Vector",
            "matrix_types": "MatrixType ivec2 ivec3 ivec4 mat2 mat3 mat4 matrix uvec2 uvec3 uvec4 vec2 vec3 vec4 vector",
            "python_mathematics": "load_python_mathematics",
            "struct_arrays": "StructArray StructField StructNdarray over_memory",
            "struct_types": "MemoryLayout StructArrayAnnotation StructBase StructType dataclass struct",
            "structs": "Struct",
        },
    )
