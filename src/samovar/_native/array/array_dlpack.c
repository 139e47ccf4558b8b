/* DLPack export and import: versioned capsules for consumers that support them, legacy ones for the others. */
#include "array/array.h"

#include <string.h>

/* --- export */

/* One block per export; its first member is what the capsule points at. */
typedef struct {
    union {
        sv_dl_versioned versioned;
        sv_dl_managed legacy;
    } managed;
    PyObject *array;
    int64_t axes[2 * SV_MAX_NDIM];
} export_block;

/* The consumer may call this without the GIL, and after the interpreter has exited. */
static void free_block(export_block *block)
{
    if (Py_IsInitialized()) {
        PyGILState_STATE state = PyGILState_Ensure();
        Py_DECREF(block->array);
        PyGILState_Release(state);
    }
    PyMem_RawFree(block);
}

static void delete_versioned(sv_dl_versioned *managed)
{
    free_block(managed->context);
}

static void delete_legacy(sv_dl_managed *managed)
{
    free_block(managed->context);
}

/* A capsule that was not consumed still owns the tensor; a consumer renames it. */
static void destroy_versioned(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        sv_dl_versioned *managed = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        managed->deleter(managed);
    }
}

static void destroy_legacy(PyObject *capsule)
{
    if (PyCapsule_IsValid(capsule, "dltensor")) {
        sv_dl_managed *managed = PyCapsule_GetPointer(capsule, "dltensor");
        managed->deleter(managed);
    }
}

static sv_dl_datatype datatype_of(const sv_dtype *dtype)
{
    static const uint8_t codes[] = {['i'] = SV_DL_INT, ['u'] = SV_DL_UINT, ['f'] = SV_DL_FLOAT, ['b'] = SV_DL_BOOL, ['c'] = SV_DL_COMPLEX};
    uint8_t code = dtype->code == SV_BF16 ? SV_DL_BFLOAT : codes[(unsigned char)dtype->kind];
    return (sv_dl_datatype){code, (uint8_t)(dtype->itemsize * 8), 1};
}

static void describe(export_block *block, sv_array *array, sv_dl_tensor *tensor)
{
    for (int axis = 0; axis < array->ndim; axis++) {
        block->axes[axis] = array->shape[axis];
        block->axes[SV_MAX_NDIM + axis] = array->byte_strides[axis] / array->dtype->itemsize;
    }
    tensor->data = array->size ? array->data : NULL; /* as the protocol requires */
    tensor->device = (sv_dl_device){SV_DL_CPU, 0};
    tensor->ndim = array->ndim;
    tensor->dtype = datatype_of(array->dtype);
    tensor->shape = block->axes;
    tensor->strides = block->axes + SV_MAX_NDIM;
    tensor->byte_offset = 0;
}

static PyObject *make_capsule(sv_array *array, bool versioned, uint64_t flags)
{
    export_block *block = PyMem_RawCalloc(1, sizeof *block);
    if (block == NULL)
        return PyErr_NoMemory();
    block->array = Py_NewRef((PyObject *)array);
    PyObject *capsule;
    if (versioned) {
        sv_dl_versioned *managed = &block->managed.versioned;
        managed->version = (sv_dl_version){SV_DLPACK_MAJOR, SV_DLPACK_MINOR};
        managed->context = block;
        managed->deleter = delete_versioned;
        managed->flags = flags;
        describe(block, array, &managed->tensor);
        capsule = PyCapsule_New(managed, "dltensor_versioned", destroy_versioned);
    } else {
        sv_dl_managed *managed = &block->managed.legacy;
        managed->context = block;
        managed->deleter = delete_legacy;
        describe(block, array, &managed->tensor);
        capsule = PyCapsule_New(managed, "dltensor", destroy_legacy);
    }
    if (capsule == NULL)
        free_block(block);
    return capsule;
}

/* 0 if the pair is the CPU or None, -1 with an exception otherwise. */
static int check_device(PyObject *device)
{
    int type, id;
    if (device == Py_None)
        return 0;
    if (!PyTuple_Check(device) || !PyArg_ParseTuple(device, "ii;dl_device is a pair of integers", &type, &id)) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "dl_device is a pair of integers");
        return -1;
    }
    if (type != SV_DL_CPU || id != 0) {
        PyErr_Format(PyExc_BufferError, "the array is in CPU memory, device (1, 0): it cannot be exported to (%d, %d)",
                     type, id);
        return -1;
    }
    return 0;
}

PyObject *sv_array_dlpack(PyObject *self, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"stream", "max_version", "dl_device", "copy", NULL};
    PyObject *stream = Py_None, *max_version = Py_None, *device = Py_None;
    sv_copy_mode mode = SV_COPY_IF_NEEDED;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|$OOOO&:__dlpack__", names, &stream, &max_version, &device,
                                     sv_copy_mode_convert, &mode))
        return NULL;
    if (stream != Py_None) {
        PyErr_SetString(PyExc_BufferError, "an array in CPU memory has no streams: stream must be None");
        return NULL;
    }
    int major = 0, minor = 0;
    if (max_version != Py_None &&
        (!PyTuple_Check(max_version) || !PyArg_ParseTuple(max_version, "ii;max_version is a pair of integers", &major,
                                                          &minor))) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "max_version is a pair of integers");
        return NULL;
    }
    if (check_device(device) < 0)
        return NULL;
    if (sv_array_require_place((sv_array *)self) < 0)
        return NULL;
    if (sv_array_is_in_blocks((sv_array *)self) && mode == SV_COPY_NEVER) {
        PyErr_SetString(PyExc_BufferError, "this field has a blocked layout, which DLPack cannot describe");
        return NULL;
    }
    bool versioned = major >= SV_DLPACK_MAJOR;
    if (mode == SV_COPY_ALWAYS || sv_array_is_in_blocks((sv_array *)self)) {
        sv_tensor_view view;
        PyObject *copy = sv_tensor_view_get(self, &view) < 0 ? NULL : (PyObject *)sv_array_from_view(&view);
        if (copy == NULL)
            return NULL;
        PyObject *capsule = make_capsule((sv_array *)copy, versioned, SV_DL_FLAG_COPIED);
        Py_DECREF(copy);
        return capsule;
    }
    bool readonly = sv_array_is_readonly((sv_array *)self);
    if (readonly && !versioned) {
        PyErr_SetString(PyExc_BufferError, "this array is read-only, which DLPack capsules before version 1 cannot express");
        return NULL;
    }
    if (!readonly)
        sv_array_exported((sv_array *)self);
    return make_capsule((sv_array *)self, versioned, readonly ? SV_DL_FLAG_READONLY : 0);
}

PyObject *sv_array_dlpack_device(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(ignored))
{
    return Py_BuildValue("(ii)", SV_DL_CPU, 0);
}

/* --- import */

static const char TAKEN_VERSIONED[] = "samovar_dltensor_versioned";
static const char TAKEN_LEGACY[] = "samovar_dltensor";

static void destroy_taken(PyObject *capsule)
{
    /* A deleter of another library may do anything: protect the pending exception. */
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    if (PyCapsule_IsValid(capsule, TAKEN_VERSIONED)) {
        sv_dl_versioned *managed = PyCapsule_GetPointer(capsule, TAKEN_VERSIONED);
        if (managed->deleter != NULL)
            managed->deleter(managed);
    } else {
        sv_dl_managed *managed = PyCapsule_GetPointer(capsule, TAKEN_LEGACY);
        if (managed->deleter != NULL)
            managed->deleter(managed);
    }
    PyErr_Restore(type, value, traceback);
}

/* Move the contents of a producer's capsule into a capsule of ours; mark the producer's as consumed. */
static PyObject *take_over(PyObject *capsule, const char *name, const char *used_name, const char *our_name)
{
    void *managed = PyCapsule_GetPointer(capsule, name);
    PyObject *taken = managed == NULL ? NULL : PyCapsule_New(managed, our_name, NULL);
    if (taken == NULL)
        return NULL;
    if (PyCapsule_SetName(capsule, used_name) < 0 || PyCapsule_SetDestructor(taken, destroy_taken) < 0) {
        Py_DECREF(taken);
        return NULL;
    }
    return taken;
}

static PyObject *take_capsule(PyObject *capsule, const sv_dl_tensor **tensor, bool *readonly)
{
    PyObject *taken;
    if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        taken = take_over(capsule, "dltensor_versioned", "used_dltensor_versioned", TAKEN_VERSIONED);
        if (taken == NULL)
            return NULL;
        sv_dl_versioned *managed = PyCapsule_GetPointer(taken, TAKEN_VERSIONED);
        if (managed->version.major != SV_DLPACK_MAJOR) {
            PyErr_Format(PyExc_BufferError, "a DLPack capsule of version %u is newer than version %d, the latest that "
                                            "samovar supports",
                         (unsigned)managed->version.major, SV_DLPACK_MAJOR);
            Py_DECREF(taken);
            return NULL;
        }
        *tensor = &managed->tensor;
        *readonly = managed->flags & SV_DL_FLAG_READONLY;
    } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        taken = take_over(capsule, "dltensor", "used_dltensor", TAKEN_LEGACY);
        if (taken == NULL)
            return NULL;
        *tensor = &((sv_dl_managed *)PyCapsule_GetPointer(taken, TAKEN_LEGACY))->tensor;
        *readonly = false;
    } else {
        const char *name = PyCapsule_GetName(capsule);
        PyErr_Format(PyExc_BufferError, "expected a capsule named \"dltensor_versioned\" or \"dltensor\", not \"%s\"%s",
                     name != NULL ? name : "",
                     name != NULL && strncmp(name, "used_", 5) == 0 ? ": it was already consumed" : "");
        return NULL;
    }
    return taken;
}

static PyObject *ask_for_capsule(PyObject *producer)
{
    PyObject *method = PyObject_GetAttrString(producer, "__dlpack__"); /* Python may run here. */
    if (method == NULL)
        return NULL;
    PyObject *capsule = NULL, *nothing = PyTuple_New(0);
    PyObject *version = Py_BuildValue("{s:(ii)}", "max_version", SV_DLPACK_MAJOR, SV_DLPACK_MINOR);
    if (nothing != NULL && version != NULL) {
        capsule = PyObject_Call(method, nothing, version); /* Python may run here. */
        if (capsule == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) {
            PyErr_Clear(); /* producers before version 1 do not have the keyword */
            capsule = PyObject_CallNoArgs(method);
        }
    }
    Py_XDECREF(nothing);
    Py_XDECREF(version);
    Py_DECREF(method);
    if (capsule != NULL && !PyCapsule_CheckExact(capsule)) {
        PyErr_Format(PyExc_TypeError, "__dlpack__ returned %.100s, not a capsule", Py_TYPE(capsule)->tp_name);
        Py_CLEAR(capsule);
    }
    return capsule;
}

/* Reject a tensor on another device before asking it to synchronize a stream. */
static int require_cpu(PyObject *producer)
{
    PyObject *device = PyObject_CallMethod(producer, "__dlpack_device__", NULL); /* Python may run here. */
    int result = -1, type, id;
    if (device == NULL)
        return -1;
    if (!PyTuple_Check(device))
        PyErr_SetString(PyExc_TypeError, "__dlpack_device__ did not return a pair of integers");
    else if (PyArg_ParseTuple(device, "ii;__dlpack_device__ did not return a pair of integers", &type, &id)) {
        if (type == SV_DL_CPU || type == SV_DL_CUDA_HOST || type == SV_DL_ROCM_HOST)
            result = 0;
        else
            PyErr_Format(PyExc_BufferError, "it is on the DLPack device (%d, %d), not in CPU memory", type, id);
    }
    Py_DECREF(device);
    return result;
}

PyObject *sv_dlpack_take(PyObject *producer, const sv_dl_tensor **tensor, bool *readonly)
{
    if (PyCapsule_CheckExact(producer))
        return take_capsule(producer, tensor, readonly);
    if (require_cpu(producer) < 0 || sv_tensor_refuse_lazy(producer, true) < 0)
        return NULL;
    PyObject *capsule = ask_for_capsule(producer);
    if (capsule == NULL)
        return NULL;
    PyObject *taken = take_capsule(capsule, tensor, readonly);
    Py_DECREF(capsule);
    return taken;
}

PyObject *sv_from_dlpack(PyObject *Py_UNUSED(module), PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"", "copy", NULL};
    PyObject *producer;
    sv_copy_mode mode = SV_COPY_IF_NEEDED;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O&:from_dlpack", names, &producer, sv_copy_mode_convert, &mode))
        return NULL;
    const sv_dl_tensor *tensor;
    bool readonly;
    PyObject *taken = sv_dlpack_take(producer, &tensor, &readonly);
    if (taken == NULL)
        return NULL;
    sv_tensor_view view;
    PyObject *array = NULL;
    if (sv_tensor_view_of_dlpack(producer, tensor, &view) > 0) {
        view.readonly = readonly;
        array = sv_array_adopt(&view, taken, mode, true);
    }
    Py_DECREF(taken);
    return array;
}
