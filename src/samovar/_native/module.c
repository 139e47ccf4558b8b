/* The extension module. Each subject adds its own names. */
#include "native.h"

static int (*const subjects[])(PyObject *) = {
    sv_dtype_init,
    sv_array_init,
    sv_layout_init,
    sv_field_init,
    sv_view_init,
    sv_algorithms_init,
    sv_symbols_init,
    sv_image_init,
    sv_attributes_init,
    sv_values_init,
    sv_overlap_init,
    sv_scalars_init,
    sv_context_init,
    sv_threads_init,
    sv_specialization_init,
    sv_kernel_init,
    sv_recording_init,
    sv_profile_init,
    sv_profiled_calls_init,
    sv_taping_init,
    sv_array_boxes_init,
    sv_api_boundary_init,
    sv_standard_input_init,
    sv_cpu_init,
    sv_fingerprint_init,
    sv_plain_digest_init,
    sv_replay_init,
    sv_path_init,
    sv_cache_entry_init,
    sv_codec_init,
    sv_plain_schema_init,
    sv_tree_path_digest_init,
    sv_program_bytes_init,
    sv_deep_values_init,
    sv_tensors_init,
    sv_numbered_names_init,
    sv_syntax_tree_init,
    sv_sparse_init,
};

static int module_exec(PyObject *module)
{
    /* Types and pools are process-wide: another interpreter would share them without a common lock. */
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        PyErr_SetString(PyExc_ImportError, "samovar does not support subinterpreters: use it from the main interpreter");
        return -1;
    }
    if (sv_cpython_init() < 0 || PyModule_AddIntConstant(module, "ABI", SV_ABI) < 0 || PyModule_AddStringConstant(module, "BUILD", SV_BUILD) < 0)
        return -1;
    for (size_t i = 0; i < sizeof subjects / sizeof *subjects; i++)
        if (subjects[i](module) < 0)
            return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {
    {Py_mod_exec, module_exec},
#ifdef Py_mod_multiple_interpreters
    {Py_mod_multiple_interpreters, Py_MOD_MULTIPLE_INTERPRETERS_NOT_SUPPORTED},
#endif
    {0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "samovar._native",
    .m_doc = PyDoc_STR("What runs at every launch: dtypes, arrays, images, threads, the launcher."),
    .m_slots = slots,
};

#ifdef Py_GIL_DISABLED
#error "samovar does not support free-threaded builds of CPython"
#endif

PyMODINIT_FUNC PyInit__native(void)
{
    return PyModuleDef_Init(&definition);
}
