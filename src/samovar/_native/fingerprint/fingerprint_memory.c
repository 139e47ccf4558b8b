/* Hashing memory of any layout as if it were in C order. */
#include "fingerprint/fingerprint.h"

#include <string.h>

enum {
    RELEASE_ABOVE = 1 << 16, /* bytes: below this, releasing the GIL costs more than it saves */
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

/* Copy a row of short runs. A size known at compile time turns memcpy into a move. */
#define GATHER(size_of_run)                                                                      \
    for (Py_ssize_t i = 0; i < fitting; i++, from += stride, into += (size_of_run))              \
        memcpy(into, from, (size_of_run))

static void gather_row(gatherer *to, const char *from, Py_ssize_t count, Py_ssize_t stride, size_t size)
{
    if (size > CHUNK / 8) {
        flush(to);
        for (Py_ssize_t i = 0; i < count; i++, from += stride)
            sv_hasher_update(to->hasher, from, size);
        return;
    }
    while (count > 0) {
        if (size > CHUNK - to->used)
            flush(to);
        Py_ssize_t fitting = (Py_ssize_t)((CHUNK - to->used) / size);
        if (fitting > count)
            fitting = count;
        uint8_t *into = to->bytes + to->used;
        switch (size) {
        case 1: GATHER(1); break;
        case 2: GATHER(2); break;
        case 4: GATHER(4); break;
        case 8: GATHER(8); break;
        case 16: GATHER(16); break;
        default: GATHER(size); break;
        }
        to->used += (size_t)fitting * size;
        count -= fitting;
    }
}

/* Walk the outer dimensions like an odometer; the trailing contiguous dimensions are one run. No dimension is empty. */
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

/* Memory behind pointers (suboffsets), which nothing in common use exports: a copy is good enough. */
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
        /* Nothing to read, and the strides may be meaningless. */
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
