/* The standard input that the C library still buffers. `python - <<EOF` reads a program through it, from a pipe that cannot
   be read again; the buffer has its last block. */
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
     PyDoc_STR("held_input()\n--\n\nThe last block of standard input that the C library has buffered, and what follows it "
               "up to a zero byte.")},
    {NULL, NULL, 0, NULL},
};

int sv_standard_input_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
