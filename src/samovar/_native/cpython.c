/* What cpython.h needs beside its inline functions: on 3.10, a class that tells when the numbers of classes begin again; on 3.13,
   numbers that no dict has. */
#include "cpython.h"

#if PY_VERSION_HEX >= 0x030D0000
uint64_t sv_unnumbered;
#endif

#if PY_VERSION_HEX < 0x030B0000

uint64_t sv_numbering;

/* It has a number that no class gets. Nobody changes it, so it keeps that until all classes lose theirs. */
PyTypeObject sv_witness_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.Witness",
    .tp_basicsize = sizeof(PyObject),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .tp_doc = PyDoc_STR("Tells whether the interpreter has begun to number classes again."),
};

/* Versions from before are told from those to come. False if no class can have a number now. */
bool sv_numbers_begin_again(void)
{
    static PyObject *name;
    if (name == NULL && (name = PyUnicode_InternFromString("__doc__")) == NULL) {
        PyErr_Clear();
        return false;
    }
    /* A class with a number loses it with its bases only if they have one as well. The first number is none. */
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
