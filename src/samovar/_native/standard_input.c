/* What the C library still holds of standard input. `python - <<EOF` reads a program through it, from a pipe that nobody can
   read again; the buffer keeps its last block. */
#include "native.h"

#include <stdio.h>
#include <string.h>

static PyObject *held_input(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(ignored))
{
#ifdef __GLIBC__
    const char *begin = stdin->_IO_buf_base, *end = stdin->_IO_buf_end;
    if (begin != NULL && begin < end)
        return PyBytes_FromStringAndSize(begin, (Py_ssize_t)strnlen(begin, (size_t)(end - begin)));
#endif
    return PyBytes_FromStringAndSize(NULL, 0);
}

static PyMethodDef functions[] = {
    {"held_input", held_input, METH_NOARGS,
     PyDoc_STR("held_input()\n--\n\nThe block of standard input that was read last through the C library, and what lies behind it "
               "up to a zero.")},
    {NULL, NULL, 0, NULL},
};

int sv_standard_input_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
