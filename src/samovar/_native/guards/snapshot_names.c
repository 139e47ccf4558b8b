/* Names below a snapshot: what global, builtin and module names refer to, where a guard requires one object. They are looked
   up again only when their dicts have changed: each state of a dict has a version. */
#include "guards/guards.h"

#include <string.h>

/* The dict in which a load finds its object, if it holds names; NULL otherwise. */
static PyObject *dict_of(const sv_instruction *load, const sv_registers *state)
{
    switch ((sv_operation)load->operation) {
    case SV_LOAD_GLOBAL:
        return load->global.names;
    case SV_LOAD_BUILTIN:
        return load->builtin.builtins;
    case SV_LOAD_ATTRIBUTE: {
        PyObject *module = state->registers[load->source];
        return module != NULL && PyModule_CheckExact(module) ? PyModule_GetDict(module) : NULL;
    }
    default:
        return NULL;
    }
}

static PyObject *name_of(const sv_instruction *load)
{
    switch ((sv_operation)load->operation) {
    case SV_LOAD_BUILTIN:
        return load->builtin.name;
    case SV_LOAD_ATTRIBUTE:
        return load->attribute.name;
    default:
        return load->global.name;
    }
}

/* What a name in a dict refers to, NULL if nothing; borrowed. A key that is not an exact str could run Python code: -1. */
static int look_up(PyObject *dict, PyObject *name, PyObject **found)
{
    *found = PyDict_GetItemWithError(dict, name); /* Python may run here. */
    return *found == NULL && PyErr_Occurred() ? -1 : 0;
}

static void add(sv_names *names, PyObject *dict, PyObject *name, PyObject *expected)
{
    names->entries[names->count++] = (sv_name){Py_NewRef(dict), Py_NewRef(name), Py_XNewRef(expected)};
    for (int i = 0; i < names->dict_count; i++)
        if (names->dicts[i].dict == dict)
            return;
    names->dicts[names->dict_count++] = (sv_dict_state){dict, 0};
}

int sv_names_collect(const sv_program *program, const sv_registers *state, sv_names *names, bool *covered)
{
    size_t most = 2 * (size_t)program->count + 1;
    const sv_instruction **loads = PyMem_Calloc((size_t)program->register_count + 1, sizeof *loads);
    names->entries = PyMem_Calloc(most, sizeof *names->entries);
    names->dicts = PyMem_Calloc(most, sizeof *names->dicts);
    if (loads == NULL || names->entries == NULL || names->dicts == NULL) {
        PyMem_Free(loads);
        return -1;
    }
    for (Py_ssize_t i = 0; i < program->count; i++) {
        const sv_instruction *one = &program->instructions[i];
        if (sv_is_load(one))
            loads[one->destination] = one;
        if (one->operation == SV_GUARD_ABSENT_GLOBAL) {
            add(names, one->global.names, one->global.name, NULL);
            covered[i] = true;
        }
        const sv_instruction *load = one->operation == SV_GUARD_IS ? loads[one->source] : NULL;
        PyObject *dict = load == NULL ? NULL : dict_of(load, state), *found = NULL;
        if (dict == NULL || covered[load - program->instructions])
            continue;
        if (look_up(dict, name_of(load), &found) < 0)
            PyErr_Clear();
        if (found != one->expected)
            continue; /* an attribute that is not found in a dict */
        if (load->operation == SV_LOAD_BUILTIN)
            add(names, load->builtin.globals, load->builtin.name, NULL);
        add(names, dict, name_of(load), one->expected);
        covered[i] = covered[load - program->instructions] = true;
    }
    PyMem_Free(loads);
    return 0;
}

int sv_names_check(sv_names *names)
{
    /* Read versions first: Python code that runs in a lookup and changes a dict leaves a version that will never recur. */
    bool moved = false;
    for (int i = 0; i < names->dict_count; i++) {
        uint64_t version = sv_dict_version(names->dicts[i].dict);
        moved |= names->dicts[i].version != version;
        names->dicts[i].version = version;
    }
    if (!moved)
        return 1;
    for (int i = 0; i < names->count; i++) {
        const sv_name *one = &names->entries[i];
        PyObject *found;
        int failed = look_up(one->dict, one->name, &found);
        if (failed < 0 || found != one->expected) {
            names->dicts[0].version = 0; /* look up again */
            return failed;
        }
    }
    return 1;
}

void sv_names_release(sv_names *names)
{
    for (int i = 0; i < names->count; i++) {
        Py_XDECREF(names->entries[i].dict);
        Py_XDECREF(names->entries[i].name);
        Py_XDECREF(names->entries[i].expected);
    }
    PyMem_Free(names->entries);
    PyMem_Free(names->dicts);
}

int sv_names_traverse(const sv_names *names, visitproc visit, void *arg)
{
    for (int i = 0; i < names->count; i++) {
        Py_VISIT(names->entries[i].dict);
        Py_VISIT(names->entries[i].expected);
    }
    return 0;
}
