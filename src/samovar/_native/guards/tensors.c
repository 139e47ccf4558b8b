/* The facts of arrays: as the lens asks for them, and as guards compare those of foreign arrays; and filling the argument
   block. */
#include "guards/guards.h"
#include "array/layout.h"

void sv_fill_foreign(uint8_t *slots, const sv_tensor_view *view, bool strided)
{
    int64_t *slot = (int64_t *)slots;
    int parts = sv_dtype_parts(view->dtype);
    slot[SV_POINTER_SLOT] = (int64_t)(intptr_t)view->data;
    slot += SV_FIRST_EXTENT_SLOT;
    for (int axis = 0; axis < view->ndim; axis++)
        *slot++ = view->shape[axis];
    slot = sv_fill_parts(slot, parts, parts);
    if (strided) {
        for (int axis = 0; axis < view->ndim; axis++)
            *slot++ = view->strides[axis] * parts;
        sv_fill_parts(slot, parts, 1);
    }
}

int sv_guard_extent(const sv_extent_guard *guard, PyObject *object, const sv_registers *state)
{
    const int64_t *shape = sv_array_check(object) ? ((sv_array *)object)->shape : state->views[guard->view].shape;
    return sv_is_extent(shape[guard->axis], guard->extent);
}

int sv_guard_foreign(const sv_program *program, const sv_tensor_guard *guard, PyObject *object, sv_registers *state)
{
    if (guard->guarded_layout != NULL) /* code is specialized on it: only our own arrays have one */
        return 0;
    if (state->views == NULL) {
        state->views = PyMem_Malloc(sizeof(sv_tensor_view) * (size_t)program->view_count);
        if (state->views == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    sv_tensor_view *view = &state->views[guard->view];
    int found = sv_tensor_view_get(object, view); /* Python may run here. */
    /* An array that no kernel accepts is a miss: the lookup knows its name and reports more. */
    if (found < 0) {
        if (!sv_is_about_object())
            return -1;
        PyErr_Clear();
        return 0;
    }
    if (found == 0)
        return 0;
    if (view->holds_buffer || view->hold != NULL) {
        state->viewed[guard->view] = SV_HOLDING_VIEW;
        sv_python_may_run();
    } else {
        state->viewed[guard->view] = SV_BORROWED_VIEW;
        state->has_borrowed_views = true;
    }
    uint32_t signature = sv_signature(&view->facts, view->readonly);
    if ((signature & guard->mask) != guard->signature)
        return 0;
    state->writes_foreign |= guard->mask == ~0u && !sv_is_numpy_array(object);
    if (guard->fill != SV_NO_FILL)
        sv_fill_foreign(state->block + guard->offset, view, guard->fill == SV_FILL_STRIDES);
    return 1;
}

static bool same_view(const sv_tensor_view *one, const sv_tensor_view *other)
{
    size_t axes = sizeof *one->shape * (size_t)one->ndim;
    return one->data == other->data && one->dtype == other->dtype && one->ndim == other->ndim && one->readonly == other->readonly &&
           memcmp(one->shape, other->shape, axes) == 0 && memcmp(one->strides, other->strides, axes) == 0;
}

int sv_views_still_hold(const sv_program *program, const sv_registers *state)
{
    for (Py_ssize_t i = 0; i < program->count; i++) {
        const sv_instruction *one = &program->instructions[i];
        if (one->operation != SV_GUARD_TENSOR || state->viewed[one->tensor.view] != SV_BORROWED_VIEW)
            continue;
        sv_tensor_view view;
        int found = sv_tensor_view_get(state->registers[one->source], &view);
        if (found < 0 && !sv_is_about_object())
            return -1;
        bool same = found == 1 && same_view(&state->views[one->tensor.view], &view);
        PyErr_Clear();
        if (found == 1)
            sv_tensor_view_release(&view);
        if (!same)
            return 0;
    }
    return 1;
}

/* --- for Python */

/* The facts in order, or None if it is not an array. */
static PyObject *tensor_facts(PyObject *Py_UNUSED(module), PyObject *object)
{
    sv_tensor_view view;
    int found = sv_tensor_view_get(object, &view); /* Python may run here. */
    if (found <= 0)
        return found < 0 ? NULL : Py_NewRef(Py_None);
#define OBJECT_t(name) Py_NewRef(view.name)
#define OBJECT_n(name) PyLong_FromLong(view.name)
#define OBJECT_f(name) PyBool_FromLong(view.name)
#define FACT_OBJECT(name, type, letter) (PyObject *)OBJECT_##letter(name),
    PyObject *facts[] = {SV_TENSOR_FACTS(FACT_OBJECT)}, *tuple = PyTuple_New(SV_FACT_COUNT);
    sv_tensor_view_release(&view); /* Python may run here. */
    for (int i = 0; i < SV_FACT_COUNT; i++) {
        if (tuple != NULL && facts[i] != NULL) {
            PyTuple_SET_ITEM(tuple, i, facts[i]);
        } else {
            Py_XDECREF(facts[i]);
            Py_CLEAR(tuple);
        }
    }
    return tuple;
}

/* The slots of an array in the argument block. */
static PyObject *array_slots(PyObject *Py_UNUSED(module), PyObject *args)
{
    int ndim, strided;
    if (!PyArg_ParseTuple(args, "ip:array_slots", &ndim, &strided))
        return NULL;
    if (ndim < 0 || ndim > SV_MAX_NDIM) {
        PyErr_SetString(PyExc_ValueError, "no array has this many dimensions");
        return NULL;
    }
    return Py_BuildValue("iiii", SV_POINTER_SLOT, SV_FIRST_EXTENT_SLOT, sv_first_stride_slot(ndim), sv_array_slots(ndim, strided));
}

static PyMethodDef tensor_functions[] = {
    {"tensor_facts", tensor_facts, METH_O,
     PyDoc_STR("tensor_facts(object, /)\n--\n\n"
               "What compiled code depends on in an array, in the order of TENSOR_FACTS; None if it is not an array.\n\n"
               ">>> from samovar._native import TENSOR_FACTS, Ndarray, f32, tensor_facts\n"
               ">>> dict(zip(TENSOR_FACTS, tensor_facts(Ndarray(f32, (2, 3)))))\n"
               "{'dtype': samovar.f32, 'ndim': 2, 'contiguous': True, 'wide': False, 'needs_grad': False,\n 'baked': False}")},
    {"array_slots", array_slots, METH_VARARGS,
     PyDoc_STR("array_slots(ndim, strided, /)\n--\n\n"
               "The slots of an array in the argument block: of its pointer, its first extent and its first stride, and their\n"
               "number.\n\n"
               ">>> from samovar._native import array_slots\n>>> array_slots(2, True)\n(0, 1, 3, 5)")},
    {NULL, NULL, 0, NULL},
};

int sv_tensors_init(PyObject *module)
{
#define FACT_NAME(name, type, letter) #name,
    static const char *const names[] = {SV_TENSOR_FACTS(FACT_NAME)};
    PyObject *tuple = PyTuple_New(SV_FACT_COUNT);
    for (int i = 0; tuple != NULL && i < SV_FACT_COUNT; i++) {
        PyObject *name = PyUnicode_InternFromString(names[i]);
        if (name == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, name);
    }
    int result = tuple == NULL ? -1 : PyModule_AddObjectRef(module, "TENSOR_FACTS", tuple);
    Py_XDECREF(tuple);
    if (result < 0 || PyModule_AddIntConstant(module, "SLOT", SV_SLOT) < 0 ||
        PyModule_AddIntConstant(module, "LEAST_KNOWN_EXTENT", SV_LEAST_KNOWN_EXTENT) < 0 ||
        PyModule_AddIntConstant(module, "GREATEST_KNOWN_EXTENT", SV_GREATEST_KNOWN_EXTENT) < 0)
        return -1;
    return PyModule_AddFunctions(module, tensor_functions);
}
