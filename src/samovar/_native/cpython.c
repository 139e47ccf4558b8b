/* The parts of cpython.h that are not inline: asynchronous exceptions; on 3.10, a class that detects when type version tags
   restart; on 3.13, version numbers that no dict has. */
#include "cpython.h"

/* The interpreter has to take the exception itself, which it does where a frame begins: a flag says that some thread has
   one, and only the interpreter can clear it. While the flag stays, every loop of every thread is slower, and CPython 3.11
   never returns from the first call that a trace function sees. */
int sv_raise_sent_exception(void)
{
    if (!sv_has_sent_exception(PyThreadState_Get()))
        return 0;
    PyObject *names = PyDict_New();
    PyObject *code = names == NULL ? NULL : Py_CompileString("None", "<samovar>", Py_eval_input);
    PyObject *value = code == NULL ? NULL : PyEval_EvalCode(code, names, names);
    bool raised = value == NULL;
    Py_XDECREF(value);
    Py_XDECREF(code);
    Py_XDECREF(names);
    return raised ? -1 : 0;
}

#if PY_VERSION_HEX >= 0x030D0000
uint64_t sv_unnumbered;
#endif

#if PY_VERSION_HEX < 0x030B0000

uint64_t sv_numbering;

/* Its version tag is one that no class gets. Nobody changes this class, so it keeps the tag until all classes lose
   theirs. */
PyTypeObject sv_witness_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.Witness",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = PyDoc_STR("Detects that the interpreter has restarted its type version tags."),
};

/* Separate the old version tags from the new ones. False if no class can get a tag now. */
bool sv_numbers_begin_again(void)
{
    static PyObject *name;
    if (name == NULL && (name = PyUnicode_InternFromString("__doc__")) == NULL) {
        PyErr_Clear();
        return false;
    }
    /* Changing a base invalidates a class only if both have a tag. Tag 0 means none. */
    for (int attempt = 0; attempt < 2; attempt++)
        sv_type_lookup(&sv_witness_type, name);
    if (!PyType_HasFeature(&sv_witness_type, Py_TPFLAGS_VALID_VERSION_TAG))
        return false;
    sv_numbering += (uint64_t)1 << 32;
    sv_witness_type.tp_version_tag = UINT32_MAX;
    return true;
}

int sv_cpython_init(void)
{
    return PyType_Ready(&sv_witness_type);
}

#else

int sv_cpython_init(void)
{
    return 0;
}

#endif
