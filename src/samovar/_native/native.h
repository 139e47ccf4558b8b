/* What the files of the native room share: one init function per subject, the dtype table, the array object. */
#ifndef SAMOVAR_NATIVE_H
#define SAMOVAR_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>

/* Primitive element types. The codes index the table in dtype.c and appear in images: append, never reorder. */
typedef enum {
    SV_I8, SV_I16, SV_I32, SV_I64,
    SV_U1, SV_U8, SV_U16, SV_U32, SV_U64,
    SV_F16, SV_F32, SV_F64,
    SV_DTYPE_COUNT
} sv_dtype_code;

typedef struct {
    PyObject_HEAD
    sv_dtype_code code;
    char kind;            /* 'i' signed, 'u' unsigned, 'b' boolean, 'f' float */
    uint8_t bits;         /* of the value: 1 for u1 */
    uint8_t itemsize;     /* of an element in memory: 1 for u1 */
    const char *name;     /* "f32" */
    const char *format;   /* buffer protocol format character, as in the struct module */
    const char *typestr;  /* array interface type string, "<f4" */
} sv_dtype;

extern PyTypeObject sv_dtype_type;

/* The singleton of a code: a borrowed reference that lives as long as the process. */
sv_dtype *sv_dtype_of(sv_dtype_code code);

/* The dtype of a buffer-protocol format string in native byte order, or NULL without an exception if there is none. */
sv_dtype *sv_dtype_from_format(const char *format, Py_ssize_t itemsize);

/* Store a Python number as one element: range-checked (OverflowError) for integers, rounded for floats. -1 on error. */
int sv_dtype_store(const sv_dtype *dtype, PyObject *value, void *element);

/* Read one element as a new Python object, NULL on error. */
PyObject *sv_dtype_load(const sv_dtype *dtype, const void *element);

/* IEEE binary16, for interpreters and compilers without the type. */
uint16_t sv_half_from_double(double value);
double sv_half_to_double(uint16_t bits);

/* Every subject adds its types and functions to the module. Each returns 0, or -1 with an exception set. */
int sv_dtype_init(PyObject *module);
int sv_fingerprint_init(PyObject *module);

#endif
