"""The remarks of `docs/names.md` on names of Quadrants that differ or are missing here, with the reason.

A key is a path as in `quadrants.txt`: a top-level name, `module.name`, `Class().member`, or a module with `.*` for its
remaining names.
"""

_SPARSE = "use `sv.root.deactivate_all()`, and nodes of `sv.root.pointer(…)`"
_DERIVATIVES = "gradients and tangents are members of arrays that need one: `x.grad`, `x.dual`"
_MESHES = "meshes are not supported"
_QUANTIZED = "quantized types are not supported"
_GPU = "GPU only"
_REFUSED = "GPU only: a kernel that reaches it is an error; a branch removed by `static` is allowed"
_TENSOR = "there is no wrapper class; `isinstance` checks the element type of an array or field"
_NODES = "no public name: `sv.root.dense(…)` and `field.parent()` return nodes with `dense`, `place`, `shape`, `parent()`"

#: Path → what is different.
DIFFERENT = {
    "Field().layout": "the layout of vectors and matrices: `sv.Layout.AOS` or `sv.Layout.SOA`; `AOS` for numbers",
    "Field().parent": "in plain Python only; for a field with its own memory, a node with nothing placed in it",
    "Field().snode": "in plain Python only, with `shape` and `parent()`; it cannot activate or place anything",
    "Tensor().layout": "the layout of vectors and matrices: `sv.Layout.AOS` or `sv.Layout.SOA`; `AOS` for numbers",
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
    "QuadrantsRuntimeTypeError": "`sv.SamovarRuntimeTypeError`; for dtype and rank of arrays also a `ValueError`",
    "QuadrantsSyntaxError": "`sv.SamovarSyntaxError`",
    "QuadrantsTypeError": "`sv.SamovarTypeError`",
    "MatrixField": "a field of vectors or matrices is an `sv.Field`; the name works with `isinstance`",
    "MatrixTensor": _TENSOR,
    "ScalarField": "the name works with `isinstance`",
    "VectorTensor": _TENSOR,
    "block_local": "a hint without effect: CPU caches do this",
    "cache_read_only": "a hint without effect: the compiler detects it",
    "create_event": "launches are synchronous, so all are in order",
    "create_stream": "launches are synchronous, so all are in order",
    "experimental": "`sv.real_func`; `samovar.compat.quadrants.experimental` exists",
    "experimental.real_func": "`sv.real_func`",
    "extension": "`sv.extension.is_supported(…)`; `assertion` and `data64` are supported",
    "field": "a write beyond its shape corrupts memory, unless `field_margin` is set; debug mode reports it",
    "Format": "`samovar.compat.quadrants.Format`, for textures",
    "init": "see [options](#options)",
    "lang": "`samovar.compat.quadrants.lang` has the names that programs use",
    "linalg.SparseCG": "the matrix is a SciPy matrix",
    "linalg.SparseMatrix": "a SciPy matrix; requires SciPy",
    "linalg.SparseMatrixBuilder": "can also be filled with `add(row, column, value)` from Python",
    "linalg.SparseSolver": "uses SciPy, which must be installed",
    "loop_config": "`block_dim`: iterations that a thread takes at a time; `parallelize=1` is serial; others are hints",
    "mesh_local": "a hint without effect",
    "no_activate": "also checks in debug mode that the cells are active",
    "perf_dispatch": "the choice is cached for later processes; `get_geometry_hash` is optional",
    "random": "independent of the number of threads",
    "algorithms.*": "functions called in kernels need no `scratch`; the argument is accepted",
    "python": "kernels run as plain Python, for pdb and coverage: Python numbers, serial loops",
    "real_func": "not inlined; recursion that ends at run time is not supported",
    "clock_counter": "nanoseconds",
    "global_thread_idx": "a number below the number of threads",
    "ref": "the same as `sv.template()`: the caller's variable",
    "stop_grad": "for the whole kernel, wherever in it the call stands",
    "stream_parallel": "blocks run in order; see `sv.graph.parallel` for parallel sections",
    "sync": "returns immediately: launches are synchronous",
    "types.ref": "the same as `sv.template()`: the caller's variable",
    "volatile_load": "an atomic load; the array counts as written",
    "wrap": "returns the array or field itself",
    "simt.*": _REFUSED,
    "simt.block.*": _REFUSED,
    "simt.grid.*": _REFUSED,
    "simt.subgroup.*": _REFUSED,
    "simt.warp.*": _REFUSED,
    "FieldsBuilder().bitmasked": "the first parameter is named `indices`",
    "FieldsBuilder().dynamic": "`chunk_size` is ignored",
    "FieldsBuilder().pointer": "the first parameter is named `indices`",
    "StructField().parent": "that of the first member; a member of this name comes first",
    "StructField().snode": "that of the first member; a member of this name comes first",
    "FieldsBuilder().quant_array": "an error with the reason: " + _QUANTIZED,
    "FieldsBuilder().finalize": "memory is freed with the last field; `destroy()` declares that none is in use",
}

#: Path → why it is missing.
ABSENT = {
    "BitpackedFields": _QUANTIZED,
    "DeviceCapability": _GPU,
    "Mesh": _MESHES,
    "MeshInstance": _MESHES,
    "mesh_patch_idx": _MESHES,
    "SNode": _NODES,
    "SNode().*": _NODES,
    "sparse": "`samovar.compat.quadrants.sparse`",
    "sparse.*": "`samovar.compat.quadrants.sparse`",
    "deactivate_all_snodes": _SPARSE,
    "get_addr": "the language has no addresses",
    "ad": _DERIVATIVES,
    "ad.*": _DERIVATIVES,
    "clock_freq_hz": _GPU,
    "dump_compile_config": "`print(samovar.runtime.current_options())`",
    "interop": _GPU,
    "interop.*": _GPU,
    "profiler": "`sv.profiler()`; `samovar.compat.quadrants.profiler` has the functions for kernels",
    "profiler.*": "`sv.profiler()`; `samovar.compat.quadrants.profiler` has the functions for kernels",
    "types.BufferViewType": "`sv.types.buffer_view(…)` is the annotation",
    "BufferView().subscript": "index it: `view[i]`",
    "types.quant": _QUANTIZED,
    "types.quant.*": _QUANTIZED,
    "Matrix().tensor": "`sv.tensor(sv.types.matrix(n, m, dtype), shape)`",
    "Ndarray().get_type": "`a.dtype`, `a.shape` and `a.element_shape`",
    "Struct().methods": "methods are defined in the class under `sv.dataclass`",
    "StructField().to_dlpack": "per member: `f.x.to_dlpack()`",
}

#: Classes that are one class here: where their members are looked up and described.
SAME_CLASS = {
    "MatrixField()": "Field()",
    "ScalarField()": "Field()",
    "MatrixNdarray()": "Ndarray()",
    "ScalarNdarray()": "Ndarray()",
    "VectorNdarray()": "Ndarray()",
    "Vector()": "Matrix()",
}
