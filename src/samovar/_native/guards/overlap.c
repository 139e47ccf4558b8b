/* Aliasing of arrays: whether written ones share memory with themselves or with others. Checked by guards at each launch,
   and by the lens when a kernel is compiled or looked up. */
#include "guards/guards.h"
#include "array/layout.h"

#include <stdlib.h>

/* The memory that an array within others' memory belongs to; each element position belongs to one array only. */
typedef struct {
    const sv_array *memory; /* NULL for every other array */
    uint32_t struct_size; /* for a member of 1-D structs: the bytes of a struct, of which the member has those from `first` to `last` */
    uint32_t first;
    uint32_t last;
} places;

/* The bytes that an array may touch, and whether two of its elements may alias. */
typedef struct {
    uintptr_t begin;
    uintptr_t end;
    const sv_array *within; /* a field, a struct member or a slice of one: elements of other arrays may be interleaved with its own */
    uint16_t number; /* of the register */
    bool written;
    bool folded;
    places places; /* used where extents of arrays intersect */
} extent;

/* Member by member: creating and copying a struct costs a launch more than the rest of this. */
static inline void set_extent(extent *extent, const sv_array *array)
{
    extent->begin = (uintptr_t)array->data;
    extent->end = extent->begin + (uintptr_t)(array->layout != NULL ? array->layout->span : array->size) * array->dtype->itemsize;
    extent->within = array->layout != NULL ? array : NULL;
    extent->folded = false;
}

static places places_of(const sv_array *array)
{
    if (array == NULL)
        return (places){0};
    bool is_view = Py_IS_TYPE((PyObject *)array, &sv_view_type);
    places found = {.memory = (const sv_array *)(is_view ? ((sv_array *)array->owner)->owner : array->owner)};
    int64_t struct_size = sv_array_rank(array) == 1 && !sv_array_is_field(array) ? array->byte_strides[0] : 0, bytes = array->dtype->itemsize;
    for (int axis = 1; axis < array->ndim; axis++)
        bytes *= array->shape[axis];
    if (struct_size > 0 && struct_size <= UINT32_MAX && found.memory != NULL) {
        found.struct_size = (uint32_t)struct_size;
        found.first = (uint32_t)(((uintptr_t)array->data - (uintptr_t)found.memory->data) % (uintptr_t)struct_size);
        found.last = found.first + (uint32_t)bytes;
    }
    return found;
}

/* Dimensions by increasing stride: each must step over everything that the smaller ones cover. */
static bool is_folded(const sv_tensor_view *view)
{
    uint64_t strides[SV_MAX_NDIM], spans[SV_MAX_NDIM];
    int count = 0;
    for (int axis = 0; axis < view->ndim; axis++) {
        if (view->shape[axis] < 2)
            continue;
        uint64_t stride = view->strides[axis] < 0 ? 0 - (uint64_t)view->strides[axis] : (uint64_t)view->strides[axis];
        int place = count++;
        for (; place > 0 && strides[place - 1] > stride; place--) {
            strides[place] = strides[place - 1];
            spans[place] = spans[place - 1];
        }
        strides[place] = stride;
        spans[place] = stride * (uint64_t)(view->shape[axis] - 1);
    }
    uint64_t covered = 0;
    for (int i = 0; i < count; i++) {
        if (strides[i] <= covered)
            return true;
        covered += spans[i];
    }
    return false;
}

static extent extent_of_view(const sv_tensor_view *view)
{
    uintptr_t begin = (uintptr_t)view->data, end = begin + view->dtype->itemsize;
    if (view->contiguous) {
        uintptr_t size = view->dtype->itemsize;
        for (int axis = 0; axis < view->ndim; axis++)
            size *= (uintptr_t)view->shape[axis];
        return (extent){.begin = begin, .end = begin + size};
    }
    for (int axis = 0; axis < view->ndim; axis++) { /* no extent is 0: such a view is contiguous */
        int64_t reach;
        /* NumPy allows arbitrary strides: what cannot be decided overlaps everything. */
        if (__builtin_mul_overflow(view->strides[axis], view->shape[axis] - 1, &reach) ||
            __builtin_mul_overflow(reach, view->dtype->itemsize, &reach) ||
            (reach < 0 ? begin < 0 - (uintptr_t)reach : __builtin_add_overflow(end, (uintptr_t)reach, &end)))
            return (extent){.end = UINTPTR_MAX, .folded = true};
        if (reach < 0)
            begin += (uintptr_t)reach;
    }
    return (extent){.begin = begin, .end = end, .folded = is_folded(view)};
}

static int by_begin(const void *left, const void *right)
{
    uintptr_t a = ((const extent *)left)->begin, b = ((const extent *)right)->begin;
    return (a > b) - (a < b);
}

static bool are_sorted(const extent *extents, int count)
{
    for (int i = 1; i < count; i++)
        if (extents[i - 1].begin > extents[i].begin)
            return false;
    return true;
}

/* Interleaved fields share no element. Slices of struct members share none if they cover different bytes of the structs. */
static bool are_interleaved(const extent *one, const extent *other)
{
    const places *here = &one->places, *there = &other->places;
    if (here->memory == NULL || here->memory != there->memory)
        return false;
    if (here->struct_size && here->struct_size == there->struct_size)
        return here->last <= there->first || there->last <= here->first;
    return one->begin != other->begin;
}

/* As below, for each pair whose extents intersect. */
static bool are_disjoint_or_interleaved(extent *extents, int count)
{
    for (int i = 0; i < count; i++)
        extents[i].places = places_of(extents[i].within);
    for (int i = 0; i < count; i++) {
        const extent *here = &extents[i];
        if (here->begin == here->end)
            continue;
        if (here->written && here->folded)
            return false;
        for (int k = i + 1; k < count && extents[k].begin < here->end; k++)
            if ((here->written || extents[k].written) && extents[k].begin != extents[k].end && !are_interleaved(here, &extents[k]))
                return false;
    }
    return true;
}

/* The memory that a field belongs to, NULL for everything else. */
static const PyObject *tree_of(const extent *extent)
{
    return extent->within != NULL && sv_array_is_field(extent->within) ? extent->within->owner : NULL;
}

/* No written array overlaps itself or another one. In order of their start addresses, each is compared with the furthest end
   before it. Arrays whose extents intersect may all be fields of one tree; different fields start at different bytes. */
static bool are_disjoint(extent *extents, int count)
{
    uintptr_t any_end = 0, written_end = 0;
    const PyObject *tree = NULL; /* common to all that reach up to here */
    const extent *last = NULL;
    for (int i = 0; i < count; i++) {
        const extent *here = &extents[i];
        if (here->begin == here->end)
            continue;
        if (here->begin >= any_end) {
            tree = here->within == NULL ? NULL : tree_of(here);
            if (here->folded && here->written)
                return false;
        } else {
            if (tree != NULL && tree != tree_of(here))
                tree = NULL;
            bool apart = tree != NULL && (here->begin != last->begin || !(here->written || last->written));
            if (!apart && (here->written || here->begin < written_end))
                return are_disjoint_or_interleaved(extents, count);
        }
        if (here->end > any_end)
            any_end = here->end;
        if (here->written && here->end > written_end)
            written_end = here->end;
        last = here;
    }
    return true;
}

enum { STACK_EXTENTS = 256 };

int sv_guard_disjoint(const sv_program *program, const sv_disjoint_guard *guard, const sv_registers *state)
{
    sv_overlap *overlap = guard->overlap;
    extent stack_extents[STACK_EXTENTS], *extents = stack_extents;
    if (overlap->count > STACK_EXTENTS && (extents = PyMem_Malloc(sizeof *extents * (size_t)overlap->count)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int i = 0; i < overlap->count; i++) {
        uint16_t number = overlap->registers[i].number;
        PyObject *object = state->registers[number];
        if (sv_array_check(object))
            set_extent(&extents[i], (sv_array *)object);
        else
            extents[i] = extent_of_view(&state->views[program->view_of_register[number]]);
        extents[i].number = number;
        extents[i].written = overlap->registers[i].written;
    }
    if (!are_sorted(extents, overlap->count)) {
        qsort(extents, (size_t)overlap->count, sizeof *extents, by_begin);
        for (int i = 0; i < overlap->count; i++) {
            overlap->registers[i].number = extents[i].number;
            overlap->registers[i].written = extents[i].written;
        }
    }
    bool disjoint = are_disjoint(extents, overlap->count);
    if (extents != stack_extents)
        PyMem_Free(extents);
    return disjoint == guard->expected;
}

/* --- for Python */

/* The result that a `disjoint` guard has for these arrays. */
int sv_are_disjoint(PyObject *written, PyObject *others)
{
    Py_ssize_t written_count = PySequence_Fast_GET_SIZE(written), count = written_count + PySequence_Fast_GET_SIZE(others);
    extent *extents = PyMem_Calloc((size_t)count + 1, sizeof *extents);
    if (extents == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int result = -1;
    for (Py_ssize_t i = 0; i < count; i++) {
        bool is_written = i < written_count;
        PyObject *object = is_written ? PySequence_Fast_GET_ITEM(written, i) : PySequence_Fast_GET_ITEM(others, i - written_count);
        sv_tensor_view view;
        int found = sv_tensor_view_get(object, &view);
        if (found == 0)
            PyErr_Format(PyExc_TypeError, "disjoint() expects arrays, not %s", Py_TYPE(object)->tp_name);
        if (found != 1)
            goto done;
        if (sv_array_check(object))
            set_extent(&extents[i], (sv_array *)object);
        else
            extents[i] = extent_of_view(&view);
        extents[i].written = is_written;
        sv_tensor_view_release(&view);
    }
    qsort(extents, (size_t)count, sizeof *extents, by_begin);
    result = are_disjoint(extents, (int)count);
done:
    PyMem_Free(extents);
    return result;
}

static PyObject *disjoint(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *written, *others;
    if (!PyArg_ParseTuple(args, "O!O!:disjoint", &PyTuple_Type, &written, &PyTuple_Type, &others))
        return NULL;
    int result = sv_are_disjoint(written, others);
    return result < 0 ? NULL : PyBool_FromLong(result);
}

static PyMethodDef overlap_functions[] = {
    {"disjoint", disjoint, METH_VARARGS,
     PyDoc_STR("disjoint(written, others, /)\n--\n\n"
               "Whether no array of `written` overlaps itself, another of them, or one of `others`.\n\n"
               ">>> from samovar._native import disjoint\n>>> a = bytearray(8)\n>>> disjoint((a,), (a,))\nFalse")},
    {NULL, NULL, 0, NULL},
};

int sv_overlap_init(PyObject *module)
{
    return PyModule_AddFunctions(module, overlap_functions);
}
