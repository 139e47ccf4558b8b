/* Hashing memory of any layout as if it were in C order. */
#include "fingerprint.h"

#include <string.h>

enum {
    RELEASE_ABOVE = 1 << 16, /* bytes: for less, letting other threads run costs more than it gives */
    CHUNK = 1 << 14,
};

typedef struct {
    sv_hasher *hasher;
    size_t used;
    uint8_t bytes[CHUNK];
} gatherer;

static void flush(gatherer *to)
{
    sv_hasher_update(to->hasher, to->bytes, to->used);
    to->used = 0;
}

static inline void gather_run(gatherer *to, const char *from, size_t size)
{
    if (size > CHUNK / 8) {
        flush(to);
        sv_hasher_update(to->hasher, from, size);
        return;
    }
    if (size > CHUNK - to->used)
        flush(to);
    memcpy(to->bytes + to->used, from, size);
    to->used += size;
}

/* One row of runs. A size that is known at compile time turns memcpy into a move. */
static void gather_row(gatherer *to, const char *from, Py_ssize_t count, Py_ssize_t stride, size_t size)
{
    switch (size) {
    case 1: for (Py_ssize_t i = 0; i < count; i++, from += stride) gather_run(to, from, 1); break;
    case 2: for (Py_ssize_t i = 0; i < count; i++, from += stride) gather_run(to, from, 2); break;
    case 4: for (Py_ssize_t i = 0; i < count; i++, from += stride) gather_run(to, from, 4); break;
    case 8: for (Py_ssize_t i = 0; i < count; i++, from += stride) gather_run(to, from, 8); break;
    case 16: for (Py_ssize_t i = 0; i < count; i++, from += stride) gather_run(to, from, 16); break;
    default: for (Py_ssize_t i = 0; i < count; i++, from += stride) gather_run(to, from, size); break;
    }
}

/* Walk the outer axes like an odometer; the trailing axes that lie contiguously are one run. No axis is empty. */
static void hash_strided(sv_hasher *hasher, const Py_buffer *view)
{
    gatherer to = {.hasher = hasher};
    int axes = view->ndim;
    size_t run = (size_t)view->itemsize;
    while (axes > 0 && view->strides[axes - 1] == (Py_ssize_t)run)
        run *= (size_t)view->shape[--axes];
    const char *from = view->buf;
    if (axes == 0) {
        sv_hasher_update(hasher, from, run);
        return;
    }
    Py_ssize_t index[PyBUF_MAX_NDIM] = {0};
    int row = axes - 1;
    for (;;) {
        gather_row(&to, from, view->shape[row], view->strides[row], run);
        int axis = row - 1;
        while (axis >= 0 && ++index[axis] == view->shape[axis]) {
            from -= (view->shape[axis] - 1) * view->strides[axis];
            index[axis--] = 0;
        }
        if (axis < 0)
            break;
        from += view->strides[axis];
    }
    flush(&to);
}

static void hash_view(sv_hasher *hasher, const Py_buffer *view)
{
    if (view->ndim == 0 || view->strides == NULL || PyBuffer_IsContiguous(view, 'C'))
        sv_hasher_update(hasher, view->buf, (size_t)view->len);
    else
        hash_strided(hasher, view);
}

/* Memory behind pointers, which nothing in common use exports: here a copy is good enough. */
static int hash_indirect(sv_hasher *hasher, const Py_buffer *view)
{
    void *copy = PyMem_Malloc((size_t)view->len);
    if (copy == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int status = PyBuffer_ToContiguous(copy, (Py_buffer *)view, view->len, 'C');
    if (status == 0)
        sv_hasher_update(hasher, copy, (size_t)view->len);
    PyMem_Free(copy);
    return status;
}

int sv_hasher_update_memory(sv_hasher *hasher, PyObject *exporter)
{
    Py_buffer view;
    int status = 0;
    if (PyObject_GetBuffer(exporter, &view, PyBUF_FULL_RO) < 0)
        return -1;
    if (view.len == 0) {
        /* Nothing to read, and strides that may not be meaningful. */
    } else if (view.suboffsets != NULL) {
        status = hash_indirect(hasher, &view);
    } else if (view.len > RELEASE_ABOVE) {
        Py_BEGIN_ALLOW_THREADS
        hash_view(hasher, &view);
        Py_END_ALLOW_THREADS
    } else {
        hash_view(hasher, &view);
    }
    PyBuffer_Release(&view);
    return status;
}
