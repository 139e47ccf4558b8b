/* The tables of fingerprint_tables.h as constants of the module, for Python. */
#include "fingerprint/fingerprint.h"

/* Steals the reference to value; NULL propagates an error. */
static int put(PyObject *table, PyObject *key, PyObject *value)
{
    int status = key == NULL || value == NULL ? -1 : PyDict_SetItem(table, key, value);
    Py_XDECREF(value);
    return status;
}

static int put_named(PyObject *table, const char *name, PyObject *value)
{
    PyObject *key = PyUnicode_FromString(name);
    int status = put(table, key, value);
    Py_XDECREF(key);
    return status;
}

#define PUT_DOMAIN(name, personalization) || put_named(table, #name, PyBytes_FromString(personalization)) < 0
#define PUT_BUILTIN(name, tag, type) || put(table, (PyObject *)(type), Py_BuildValue("(is)", SV_WALK_##name, tag)) < 0
#define PUT_WALK(name) || put_named(table, #name, PyLong_FromLong(SV_WALK_##name)) < 0
#define PUT_TAG(name, tag) || put_named(table, #name, PyUnicode_FromString(tag)) < 0

static int fill_domains(PyObject *table)
{
    return (false SV_DIGEST_DOMAINS(PUT_DOMAIN)) ? -1 : 0;
}

static int fill_builtins(PyObject *table)
{
    return (false SV_BUILTIN_WALKS(PUT_BUILTIN)) ? -1 : 0;
}

static int fill_walks(PyObject *table)
{
    return (false PUT_WALK(DECONSTRUCTION) SV_PLANNED_WALKS(PUT_WALK)) ? -1 : 0;
}

static int fill_tags(PyObject *table)
{
    return (false SV_LEVEL_TAGS(PUT_TAG)) ? -1 : 0;
}

static int add_table(PyObject *module, const char *name, int (*fill)(PyObject *))
{
    PyObject *table = PyDict_New();
    if (table == NULL)
        return -1;
    int status = fill(table) < 0 ? -1 : PyModule_AddObjectRef(module, name, table);
    Py_DECREF(table);
    return status;
}

int sv_fingerprint_tables_init(PyObject *module)
{
    if (add_table(module, "FINGERPRINT_DOMAINS", fill_domains) < 0 || add_table(module, "FINGERPRINT_BUILTINS", fill_builtins) < 0 ||
        add_table(module, "FINGERPRINT_WALKS", fill_walks) < 0 || add_table(module, "FINGERPRINT_TAGS", fill_tags) < 0)
        return -1;
    return PyModule_AddIntConstant(module, "FINGERPRINT_DIGEST_SIZE", SV_DIGEST_SIZE);
}
