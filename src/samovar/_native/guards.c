/* Running a guard program: every path is read once into a register that keeps it alive, guards and fills look at the register.
   The facts about arrays that guards compare are defined here, and offered to Python under the same names. */
#include "runtime.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- loads: 1 found, 0 absent, -1 another exception */

/* What an exception in a load means: the named ones are a miss. */
static int miss_if(PyObject *first, PyObject *second)
{
    if (!PyErr_ExceptionMatches(first) && !PyErr_ExceptionMatches(second))
        return -1;
    PyErr_Clear();
    return 0;
}

static int load_item(PyObject *source, PyObject *key, PyObject **result)
{
    if (PyDict_CheckExact(source)) {
        *result = Py_XNewRef(PyDict_GetItemWithError(source, key));
        return *result != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
    }
    if (PyDict_Check(source)) {
        /* A dict that invents missing items is not given the occasion. */
        int contained = PyDict_Contains(source, key);
        if (contained != 1)
            return contained;
    }
    *result = PyObject_GetItem(source, key);
    return *result != NULL ? 1 : miss_if(PyExc_KeyError, PyExc_IndexError);
}

static int load_global(PyObject *dict, PyObject *name, PyObject **result)
{
    *result = Py_XNewRef(PyDict_GetItemWithError(dict, name));
    return *result != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
}

/* What `super().name` gives in a method of a class. */
static int load_inherited(PyObject *source, PyObject *class, PyObject *name, PyObject **result)
{
    if (!PyType_Check(class) || !PyType_IsSubtype(Py_TYPE(source), (PyTypeObject *)class))
        return 0;
    PyObject *bases = PyObject_CallFunctionObjArgs((PyObject *)&PySuper_Type, class, source, NULL);
    if (bases == NULL)
        return -1;
    int found = sv_optional_attribute(bases, name, result);
    Py_DECREF(bases);
    return found;
}

static int load_function(PyObject *source, PyObject **result)
{
    static PyObject *wrapped;
    if (wrapped == NULL && (wrapped = PyUnicode_InternFromString("__wrapped__")) == NULL)
        return -1;
    int found = sv_optional_attribute(source, wrapped, result);
    return found == 1 ? PyFunction_Check(*result) : found;
}

/* Whether reading an attribute would bind what the class defines under the name: it is this object, the class reads attributes
   in the ordinary way, and the instance has none of the name. */
static int same_method(PyObject *source, PyObject *name, PyObject *expected)
{
    PyTypeObject *type = Py_TYPE(source);
    if (type->tp_getattro != PyObject_GenericGetAttr || _PyType_Lookup(type, name) != expected)
        return 0;
    PyObject **place = _PyObject_GetDictPtr(source);
    if (place == NULL || *place == NULL)
        return 1;
    int shadowed = PyDict_Contains(*place, name);
    return shadowed < 0 ? -1 : !shadowed;
}

/* --- values: 1 the same, 0 not, -1 an exception */

static int same_bits(double left, double right)
{
    return memcmp(&left, &right, sizeof left) == 0;
}

/* The same exact type and the same value, where 0.0 and -0.0 differ and a NaN is itself. */
int sv_same_value(PyObject *actual, PyObject *expected)
{
    if (actual == expected)
        return 1;
    if (Py_TYPE(actual) != Py_TYPE(expected))
        return 0;
    if (PyFloat_Check(expected))
        return same_bits(PyFloat_AS_DOUBLE(actual), PyFloat_AS_DOUBLE(expected));
    /* What a subclass makes of `==` does not count: the number or the text is what is baked. */
    if (PyLong_Check(expected) || PyUnicode_Check(expected)) {
        PyTypeObject *base = PyLong_Check(expected) ? &PyLong_Type : &PyUnicode_Type;
        PyObject *same = base->tp_richcompare(actual, expected, Py_EQ);
        int truth = same == NULL ? -1 : same == Py_True;
        Py_XDECREF(same);
        return truth;
    }
    if (PyTuple_CheckExact(expected)) {
        Py_ssize_t length = PyTuple_GET_SIZE(expected);
        if (PyTuple_GET_SIZE(actual) != length)
            return 0;
        for (Py_ssize_t i = 0; i < length; i++) {
            int same = sv_same_value(PyTuple_GET_ITEM(actual, i), PyTuple_GET_ITEM(expected, i));
            if (same != 1)
                return same;
        }
        return 1;
    }
    if (PyComplex_CheckExact(expected)) {
        Py_complex left = PyComplex_AsCComplex(actual), right = PyComplex_AsCComplex(expected);
        return same_bits(left.real, right.real) && same_bits(left.imag, right.imag);
    }
    /* Floats that are not Python's (numpy.float32): compared as numbers they would lose the sign of zero. */
    const PyNumberMethods *numbers = Py_TYPE(expected)->tp_as_number;
    if (numbers != NULL && numbers->nb_float != NULL && numbers->nb_index == NULL) {
        double left = PyFloat_AsDouble(actual);
        if (left == -1.0 && PyErr_Occurred())
            return -1;
        double right = PyFloat_AsDouble(expected);
        if (right == -1.0 && PyErr_Occurred())
            return -1;
        if (!same_bits(left, right) || isnan(left))
            return same_bits(left, right);
    }
    return PyObject_RichCompareBool(actual, expected, Py_EQ);
}

static int same_defaults(PyObject *function, PyObject *expected)
{
    if (!PyFunction_Check(function))
        return 0;
    PyObject *actual = PyFunction_GET_DEFAULTS(function);
    if (actual == NULL)
        actual = Py_None;
    /* An assignment to __defaults__ while elements are compared must not free the tuple. */
    Py_INCREF(actual);
    int same = sv_same_value(actual, expected);
    Py_DECREF(actual);
    return same;
}

static int same_length(PyObject *object, Py_ssize_t expected)
{
    const PySequenceMethods *sequence = Py_TYPE(object)->tp_as_sequence;
    const PyMappingMethods *mapping = Py_TYPE(object)->tp_as_mapping;
    if ((sequence == NULL || sequence->sq_length == NULL) && (mapping == NULL || mapping->mp_length == NULL))
        return 0;
    Py_ssize_t length = PyObject_Size(object);
    return length < 0 ? -1 : length == expected;
}

/* The keys of a dict in their order. Comparing may run Python code, so the keys are held. */
static int same_keys(PyObject *object, PyObject *expected)
{
    if (!PyDict_Check(object) || PyDict_GET_SIZE(object) != PyTuple_GET_SIZE(expected))
        return 0;
    PyObject *keys = PyDict_Keys(object);
    if (keys == NULL)
        return -1;
    int same = PyList_GET_SIZE(keys) == PyTuple_GET_SIZE(expected);
    for (Py_ssize_t i = 0; same == 1 && i < PyTuple_GET_SIZE(expected); i++)
        same = sv_same_value(PyList_GET_ITEM(keys, i), PyTuple_GET_ITEM(expected, i));
    Py_DECREF(keys);
    return same;
}

/* --- arrays */

static void fill_own(uint8_t *block, const sv_array *array, bool strided)
{
    int64_t *slot = (int64_t *)block;
    *slot++ = (int64_t)(intptr_t)array->data;
    for (int axis = 0; axis < array->ndim; axis++)
        *slot++ = array->shape[axis];
    if (strided) {
        int64_t stride = 1;
        for (int axis = array->ndim; axis-- > 0; stride *= array->shape[axis])
            slot[axis] = stride;
    }
}

static void fill_foreign(uint8_t *block, const sv_tensor_view *view, bool strided)
{
    int64_t *slot = (int64_t *)block;
    *slot++ = (int64_t)(intptr_t)view->data;
    for (int axis = 0; axis < view->ndim; axis++)
        *slot++ = view->shape[axis];
    if (strided)
        for (int axis = 0; axis < view->ndim; axis++)
            *slot++ = view->strides[axis];
}

static void fill_array(const sv_instruction *fill, const sv_registers *state)
{
    PyObject *object = state->registers[fill->source];
    if (sv_array_check(object))
        fill_own(state->block + fill->number, (sv_array *)object, fill->flag);
    else
        fill_foreign(state->block + fill->number, &state->views[fill->view], fill->flag);
}

static int guard_tensor(const sv_program *program, const sv_instruction *guard, sv_registers *state)
{
    PyObject *object = state->registers[guard->source];
    if (sv_array_check(object)) {
        const sv_array *array = (const sv_array *)object;
        if ((array->signature & guard->mask) != guard->signature || !guard->flag)
            return 0;
        if (guard->fill != SV_NO_FILL)
            fill_own(state->block + guard->number, array, guard->fill == SV_FILL_STRIDES);
        return 1;
    }
    if (state->views == NULL) {
        state->views = PyMem_Malloc(sizeof(sv_tensor_view) * (size_t)program->view_count);
        if (state->views == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    sv_tensor_view *view = &state->views[guard->view];
    int found = sv_tensor_view_get(object, view);
    /* An array that no kernel takes is a miss: who resolves it knows its name and says more. */
    if (found < 0)
        return PyErr_ExceptionMatches(PyExc_MemoryError) ? -1 : miss_if(PyExc_Exception, PyExc_Exception);
    if (found == 0)
        return 0;
    state->viewed[guard->view] = 1;
    uint32_t signature = sv_signature(view->dtype, view->ndim, view->wide, view->needs_grad, view->readonly);
    if ((signature & guard->mask) != guard->signature || view->contiguous != guard->flag)
        return 0;
    if (guard->fill != SV_NO_FILL)
        fill_foreign(state->block + guard->number, view, guard->fill == SV_FILL_STRIDES);
    return 1;
}

/* The bytes an array may touch, and whether two of its elements may share one. */
typedef struct {
    uintptr_t begin;
    uintptr_t end;
    uint16_t number; /* of the register */
    bool written;
    bool folded;
} extent;

static extent extent_of_array(const sv_array *array)
{
    uintptr_t begin = (uintptr_t)array->data;
    return (extent){begin, begin + (uintptr_t)array->size * array->dtype->itemsize, 0, false, false};
}

/* Axes by growing stride: each must step over everything that the smaller ones cover. */
static bool is_folded(const sv_tensor_view *view)
{
    uint64_t strides[SV_MAX_NDIM], spans[SV_MAX_NDIM];
    int count = 0;
    for (int axis = 0; axis < view->ndim; axis++) {
        if (view->shape[axis] < 2)
            continue;
        uint64_t stride = (uint64_t)(view->strides[axis] < 0 ? -view->strides[axis] : view->strides[axis]);
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
    for (int axis = 0; axis < view->ndim; axis++) {
        if (view->shape[axis] == 0)
            return (extent){begin, begin, 0, false, false};
        int64_t reach = view->strides[axis] * (view->shape[axis] - 1) * view->dtype->itemsize;
        if (reach < 0)
            begin += (uintptr_t)reach;
        else
            end += (uintptr_t)reach;
    }
    return (extent){begin, end, 0, false, !view->contiguous && is_folded(view)};
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

/* No written array overlaps itself or another one. In the order of their beginnings, each is compared with the furthest end
   before it. */
static bool are_disjoint(const extent *extents, int count)
{
    uintptr_t any_end = 0, written_end = 0;
    for (int i = 0; i < count; i++) {
        const extent *here = &extents[i];
        if (here->begin == here->end)
            continue;
        if (here->begin < written_end || (here->written && (here->folded || here->begin < any_end)))
            return false;
        if (here->end > any_end)
            any_end = here->end;
        if (here->written && here->end > written_end)
            written_end = here->end;
    }
    return true;
}

enum { STACK_EXTENTS = 256 };

static int guard_disjoint(const sv_program *program, const sv_instruction *guard, sv_registers *state)
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
        extents[i] = sv_array_check(object) ? extent_of_array((sv_array *)object)
                                            : extent_of_view(&state->views[program->view_of_register[number]]);
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
    return disjoint == guard->flag;
}

/* --- scalars */

/* A number, and not an array that would convert to one. */
static bool is_number(const sv_dtype *dtype, PyObject *object)
{
    if (PyFloat_Check(object))
        return dtype->kind == 'f' || dtype->kind == 'b';
    if (PyLong_Check(object))
        return true;
    const PyTypeObject *type = Py_TYPE(object);
    if ((type->tp_as_sequence != NULL && type->tp_as_sequence->sq_length != NULL) ||
        (type->tp_as_mapping != NULL && type->tp_as_mapping->mp_length != NULL))
        return false;
    const PyNumberMethods *numbers = type->tp_as_number;
    if (numbers == NULL || PyComplex_Check(object))
        return false;
    bool integer = numbers->nb_index != NULL;
    return dtype->kind == 'i' || dtype->kind == 'u' ? integer : integer || numbers->nb_float != NULL;
}

/* Puts the parameter's name in front of an OverflowError. */
static int name_overflow(PyObject *name)
{
    if (!PyErr_ExceptionMatches(PyExc_OverflowError))
        return -1;
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_Format(PyExc_OverflowError, "%U: %S", name, value == NULL ? Py_None : value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
    return -1;
}

static int fill_scalar(const sv_instruction *fill, const sv_registers *state)
{
    const sv_dtype *dtype = (const sv_dtype *)fill->object;
    PyObject *object = state->registers[fill->source];
    uint8_t *slot = state->block + fill->number;
    if (PyFloat_CheckExact(object) && dtype->kind == 'f' && dtype->code != SV_F16) {
        double number = PyFloat_AS_DOUBLE(object);
        if (dtype->code == SV_F64) {
            memcpy(slot, &number, sizeof number);
        } else {
            float single = (float)number;
            memcpy(slot, &single, sizeof single);
        }
        return 1;
    }
    if (!is_number(dtype, object))
        return 0;
    return sv_dtype_store(dtype, object, slot) < 0 ? name_overflow(fill->name) : 1;
}

/* --- the program */

static int prepare(const sv_program *program, sv_registers *state)
{
    state->snapshot = NULL;
    state->registers = state->stack_registers;
    state->viewed = state->stack_viewed;
    state->views = program->view_count <= SV_STACK_VIEWS ? state->stack_views : NULL;
    if (program->register_count > SV_STACK_REGISTERS) {
        /* One block: the pointers, then a byte per view; there are no more views than registers. */
        size_t count = (size_t)program->register_count;
        state->registers = PyMem_Calloc(count, sizeof(PyObject *) + 1);
        if (state->registers == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        state->viewed = (uint8_t *)(state->registers + count);
        return 0;
    }
    memset(state->stack_registers, 0, sizeof(PyObject *) * (size_t)program->register_count);
    memset(state->stack_viewed, 0, (size_t)program->view_count);
    return 0;
}

/* One instruction. 1: go on; 0: a miss; -1: an exception. */
static inline __attribute__((always_inline)) int step(const sv_program *program, sv_instruction *instruction,
                                                      PyObject *const *arguments, sv_registers *state)
{
    PyObject **registers = state->registers;
    PyObject **destination = &registers[instruction->destination];
    PyObject *source = registers[instruction->source];
    int holds = 1;
    switch ((sv_operation)instruction->operation) {
    case SV_LOAD_PARAMETER: /* borrowed: the caller keeps its arguments */
        *destination = arguments[instruction->number];
        return 1;
    case SV_LOAD_CONSTANT: /* borrowed: the specialisation keeps it */
        *destination = instruction->object;
        return 1;
    case SV_LOAD_CELL:
        *destination = PyCell_Get(instruction->object);
        holds = *destination != NULL;
        break;
    case SV_LOAD_GLOBAL:
        holds = load_global(instruction->object, instruction->name, destination);
        break;
    case SV_LOAD_BUILTIN:
        holds = PyDict_Contains(instruction->object, instruction->name);
        holds = holds != 0 ? (holds < 0 ? -1 : 0) : load_global(instruction->builtins, instruction->name, destination);
        break;
    case SV_LOAD_ATTRIBUTE:
        holds = sv_load_attribute(instruction, source, destination);
        break;
    case SV_LOAD_INHERITED:
        holds = load_inherited(source, registers[instruction->view], instruction->name, destination);
        break;
    case SV_LOAD_ITEM:
        holds = load_item(source, instruction->name, destination);
        break;
    case SV_LOAD_FUNCTION:
        holds = load_function(source, destination);
        break;
    case SV_GUARD_IS:
        holds = source == instruction->object;
        break;
    case SV_GUARD_WEAK:
        holds = sv_is_referent(source, instruction->object);
        break;
    case SV_GUARD_TYPE:
        holds = (PyObject *)Py_TYPE(source) == instruction->object;
        break;
    case SV_GUARD_VALUE:
        holds = sv_same_value(source, instruction->object);
        break;
    case SV_GUARD_METHOD:
        holds = same_method(source, instruction->name, instruction->object);
        break;
    case SV_GUARD_ABSENT_ATTRIBUTE: {
        PyObject *found;
        holds = sv_optional_attribute(source, instruction->name, &found);
        Py_XDECREF(found);
        holds = holds < 0 ? -1 : !holds;
        break;
    }
    case SV_GUARD_ABSENT_GLOBAL:
        holds = PyDict_Contains(instruction->object, instruction->name);
        holds = holds < 0 ? -1 : !holds;
        break;
    case SV_GUARD_LENGTH:
        holds = same_length(source, instruction->number);
        break;
    case SV_GUARD_KEYS:
        holds = same_keys(source, instruction->object);
        break;
    case SV_GUARD_CODE:
        holds = PyFunction_Check(source) && PyFunction_GET_CODE(source) == instruction->object;
        break;
    case SV_GUARD_DEFAULTS:
        holds = same_defaults(source, instruction->object);
        break;
    case SV_GUARD_SAME_FUNCTION: /* which can be given other code */
        holds = source == instruction->name && PyFunction_GET_CODE(source) == instruction->object;
        break;
    case SV_GUARD_CONTENTS:
        holds = sv_same_contents(source, instruction->object);
        break;
    case SV_GUARD_TENSOR:
        holds = guard_tensor(program, instruction, state);
        break;
    case SV_GUARD_DISJOINT:
        holds = guard_disjoint(program, instruction, state);
        break;
    case SV_FILL_ARRAY:
        fill_array(instruction, state);
        return 1;
    case SV_FILL_SCALAR:
        holds = fill_scalar(instruction, state);
        break;
    case SV_STABLE: /* no program has one */
    default:
        Py_UNREACHABLE();
    }
    return holds;
}

/* What is left to do where a snapshot holds the rest. */
static int run_rest(sv_program *program, const sv_snapshot *snapshot, PyObject *const *arguments, sv_registers *state)
{
    memcpy(state->registers, snapshot->registers, sizeof *state->registers * (size_t)program->register_count);
    memcpy(state->block, snapshot->block, (size_t)program->block_size);
    for (int i = 0; i < snapshot->todo_count; i++) {
        int holds = step(program, &program->instructions[snapshot->todo[i]], arguments, state);
        if (holds != 1)
            return holds;
    }
    return 1;
}

int sv_program_run(sv_program *program, PyObject *const *arguments, sv_registers *state, uint8_t *block)
{
    if (prepare(program, state) < 0)
        return -1;
    state->block = block;
    if (program->root_count > 0) {
        state->snapshot = sv_snapshot_find(program, arguments);
        if (state->snapshot != NULL)
            return run_rest(program, state->snapshot, arguments, state);
    }
    sv_instruction *instruction = program->instructions, *end = instruction + program->count;
    for (; instruction < end; instruction++) {
        int holds = step(program, instruction, arguments, state);
        if (holds != 1)
            return holds;
    }
    if (program->root_count > 0)
        sv_snapshot_take(program, arguments, state);
    return 1;
}

void sv_registers_release(const sv_program *program, sv_registers *state)
{
    if (state->registers == NULL)
        return;
    for (int i = 0; i < program->view_count; i++)
        if (state->viewed[i])
            sv_tensor_view_release(&state->views[i]);
    const sv_snapshot *snapshot = state->snapshot;
    const uint16_t *owned = snapshot == NULL ? program->owned : snapshot->owned;
    int owned_count = snapshot == NULL ? program->owned_count : snapshot->owned_count;
    for (int i = 0; i < owned_count; i++)
        Py_XDECREF(state->registers[owned[i]]);
    if (state->views != state->stack_views)
        PyMem_Free(state->views);
    if (state->registers != state->stack_registers)
        PyMem_Free(state->registers);
    sv_snapshot_release(state->snapshot);
}

/* The answer that a `disjoint` guard gives for these arrays, for who makes the guard. */
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

static PyObject *same_value(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *first, *second;
    if (!PyArg_ParseTuple(args, "OO:same_value", &first, &second))
        return NULL;
    int same = sv_same_value(first, second);
    return same < 0 ? NULL : PyBool_FromLong(same);
}

static PyMethodDef guard_functions[] = {
    {"same_value", same_value, METH_VARARGS,
     PyDoc_STR("same_value(first, second, /)\n--\n\n"
               "The same exact type and the same value: floats by their bits, tuples element by element.\n\n"
               ">>> from samovar._native import same_value\n>>> same_value((1, 0.0), (1, -0.0))\nFalse")},
    {"disjoint", disjoint, METH_VARARGS,
     PyDoc_STR("disjoint(written, others)\n--\n\n"
               "Whether no array of `written` overlaps itself, another of them, or one of `others`.\n\n"
               ">>> from samovar._native import disjoint\n>>> a = bytearray(8)\n>>> disjoint((a,), (a,))\nFalse")},
    {NULL, NULL, 0, NULL},
};

int sv_guards_init(PyObject *module)
{
    return PyModule_AddFunctions(module, guard_functions);
}
