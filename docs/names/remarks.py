"""What `docs/names.md` says of names of Quadrants that are not simply the same here: different and why, absent and why.

A key is a path as in `quadrants.txt`: a name of the root, `module.name`, `Class().member`, or a module with `.*` for the
rest of its names.
"""

_SPARSE = "there are no sparse fields: all elements of a field are there from the beginning"
_DERIVATIVES = "there are no derivatives in this version; left out on purpose"
_MESHES = "there are no meshes"
_QUANTIZED = "there are no quantized types"
_GPU = "it is about a GPU"
_REFUSED = "for the threads of a GPU: a kernel that reaches it is refused. Where `static` leaves the branch out it is fine"
_TENSOR = "an array or field is itself, not a wrapper around one; `isinstance` asks for its elements"
_NODES = "no name: `sv.root.dense(…)` and `field.parent()` give nodes, with `dense`, `place`, `shape`, `parent()`"
_MEMBER = "the name may be that of a member; ask the field of a member: `s.x.parent()`"

#: Path → what is different.
DIFFERENT = {
    "Field().layout": "how vectors and matrices lie: `sv.Layout.AOS` or `sv.Layout.SOA`; of numbers it is `AOS`",
    "Field().parent": "in plain Python; of a field with memory of its own, a node with its axes that nothing is placed in",
    "Field().snode": "in plain Python, with `shape` and `parent()`: nothing is activated or placed by it",
    "Tensor().layout": "how vectors and matrices lie: `sv.Layout.AOS` or `sv.Layout.SOA`; of numbers it is `AOS`",
    "amdgpu": "`sv.init` warns once and uses the CPU",
    "arm64": "the same value as `sv.cpu`",
    "cpu": "one value for all processors: `sv.x64`, `sv.x86_64` and `sv.arm64` are the same",
    "cuda": "`sv.init` warns once and uses the CPU",
    "gpu": "`sv.init` warns once and uses the CPU",
    "metal": "`sv.init` warns once and uses the CPU",
    "vulkan": "`sv.init` warns once and uses the CPU",
    "x64": "the same value as `sv.cpu`",
    "x86_64": "the same value as `sv.cpu`",
    "QuadrantsAssertionError": "`sv.SamovarAssertionError`, also for an index out of bounds (`sv.SamovarIndexError`)",
    "QuadrantsCompilationError": "`sv.SamovarCompilationError`",
    "QuadrantsNameError": "`sv.SamovarNameError`",
    "QuadrantsRuntimeError": "`sv.SamovarRuntimeError`",
    "QuadrantsRuntimeTypeError": "`sv.SamovarRuntimeTypeError`; for dtype and axes of arrays a `ValueError` as well",
    "QuadrantsSyntaxError": "`sv.SamovarSyntaxError`",
    "QuadrantsTypeError": "`sv.SamovarTypeError`",
    "MatrixField": "a field of vectors or matrices is a `sv.Field`; the name is for `isinstance`",
    "MatrixTensor": _TENSOR,
    "ScalarField": "the name is for `isinstance`",
    "VectorTensor": _TENSOR,
    "block_local": "a hint that needs nothing: the caches of a CPU do so",
    "cache_read_only": "a hint that needs nothing: it is found out",
    "create_event": "launches are over when they return: all are in order",
    "create_stream": "launches are over when they return: all are in order",
    "experimental": "`sv.real_func`; `samovar.compat.quadrants.experimental` is there",
    "experimental.real_func": "`sv.real_func`",
    "extension": "`sv.extension.is_supported(…)`; `assertion` and `data64` are supported",
    "field": "writes a little beyond its shape are not forgiven by padding: debug mode reports them",
    "init": "see [options](#options)",
    "lang": "`samovar.compat.quadrants.lang`: the names that programs reach for",
    "linalg.SparseCG": "the matrix is one of SciPy",
    "linalg.SparseMatrix": "one of SciPy, which has to be installed",
    "linalg.SparseMatrixBuilder": "also filled by `add(row, column, value)` on the host",
    "linalg.SparseSolver": "SciPy solves; it has to be installed",
    "loop_config": "`block_dim` is how many iterations a thread takes at a time; `parallelize=1` is serial, others hints",
    "mesh_local": "a hint that needs nothing",
    "no_activate": "a hint that needs nothing",
    "perf_dispatch": "what was found is kept in the cache for later processes; `get_geometry_hash` may be left out",
    "random": "numbers do not depend on the number of threads",
    "algorithms.*": "those for calls in kernels need no `scratch` here, and take it",
    "python": "kernels run as plain Python, for pdb and coverage: numbers are Python's, loops serial",
    "real_func": "not inlined; recursion is refused",
    "ref": "the same as `sv.template()`: the caller's variable",
    "stop_grad": "a hint that needs nothing",
    "stream_parallel": "blocks run in order; see `sv.graph.parallel` for sections side by side",
    "sync": "returns at once: a launch is over when it returns",
    "types.ref": "the same as `sv.template()`: the caller's variable",
    "volatile_load": "an atomic read: the array counts as written",
    "wrap": "gives the array or field itself",
    "simt.*": _REFUSED,
    "simt.block.*": _REFUSED,
    "simt.grid.*": _REFUSED,
    "simt.subgroup.*": _REFUSED,
    "simt.warp.*": _REFUSED,
    "Field().grad": "an array beside the field, for who computes derivatives by hand",
    "FieldsBuilder().bitmasked": "refused with the reason: " + _SPARSE,
    "FieldsBuilder().dynamic": "refused with the reason: " + _SPARSE,
    "FieldsBuilder().pointer": "refused with the reason: " + _SPARSE,
    "FieldsBuilder().quant_array": "refused with the reason: " + _QUANTIZED,
    "FieldsBuilder().finalize": "memory is given back with the last field: `destroy()` says that none is used any more",
}

#: Path → why it is not here.
ABSENT = {
    "BitpackedFields": _QUANTIZED,
    "DeviceCapability": _GPU,
    "Format": "there are no textures",
    "Mesh": _MESHES,
    "MeshInstance": _MESHES,
    "mesh_patch_idx": _MESHES,
    "SNode": _NODES,
    "SNode().*": _NODES,
    "activate": _SPARSE,
    "append": _SPARSE,
    "deactivate": _SPARSE,
    "deactivate_all_snodes": _SPARSE,
    "is_active": _SPARSE,
    "length": _SPARSE + "; the length of a vector is `sv.math.length`",
    "get_addr": "addresses are no part of the language",
    "rescale_index": "write the arithmetic: `I * shape_b // shape_a`",
    "ad": _DERIVATIVES,
    "ad.*": _DERIVATIVES,
    "clock_counter": "time launches from outside: a loop that LLVM rewrites has no order to put a clock into",
    "clock_freq_hz": _GPU,
    "global_thread_idx": "which thread runs an iteration is not fixed, and not said",
    "dump_compile_config": "`print(samovar.runtime.current_options())`",
    "interop": _GPU,
    "interop.*": _GPU,
    "profiler": "`sv.profiler()`; `samovar.compat.quadrants.profiler` has the functions that are about kernels",
    "profiler.*": "`sv.profiler()`; `samovar.compat.quadrants.profiler` has the functions that are about kernels",
    "sparse": _SPARSE,
    "sparse.*": _SPARSE,
    "types.BufferViewType": "`sv.types.buffer_view(…)` gives the annotation",
    "BufferView().subscript": "index it: `view[i]`",
    "types.quant": _QUANTIZED,
    "types.quant.*": _QUANTIZED,
    "FieldsBuilder().deactivate_all": _SPARSE,
    "FieldsBuilder().lazy_dual": _DERIVATIVES,
    "Matrix().tensor": "`sv.tensor(sv.types.matrix(n, m, dtype), shape)`",
    "Ndarray().get_type": "`a.dtype`, `a.shape` and `a.element_shape`",
    "Struct().methods": "methods are those of the class that `sv.dataclass` decorates",
    "StructField().has_dual": _DERIVATIVES,
    "StructField().has_grad": _DERIVATIVES,
    "StructField().parent": _MEMBER,
    "StructField().snode": _MEMBER,
    "StructField().to_dlpack": "of its members, one by one: `f.x.to_dlpack()`",
}

#: Classes that are one here: where their members are looked up and explained.
SAME_CLASS = {
    "MatrixField()": "Field()",
    "ScalarField()": "Field()",
    "MatrixNdarray()": "Ndarray()",
    "ScalarNdarray()": "Ndarray()",
    "VectorNdarray()": "Ndarray()",
    "Vector()": "Matrix()",
}
