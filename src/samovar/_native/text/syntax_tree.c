/* Walking Python syntax trees: a compile does so several times for each function, and most nodes need no work.

   Only the declared fields of a node lead to its children. Libraries that render tracebacks add a `parent` to nodes, and
   CPython shares operator nodes between all trees: through their other attributes, a tree has cycles. */
#include "cache/bytes.h"
#include "native.h"

#include <string.h>

static PyObject *node_class; /* ast.AST */

/* No function has this many nodes, or this much text: beyond it, a program has created a cycle. */
enum { MOST_NODES = 1 << 22, MOST_TEXT = 1 << 28, NODES_BETWEEN_SIGNALS = 1 << 12 };

/* Count a visited object. -1 with an exception: there are too many, or a signal handler raised. */
static int count_node(Py_ssize_t *count, size_t text)
{
    if (++*count > MOST_NODES || text > MOST_TEXT) {
        PyErr_SetString(PyExc_RecursionError, "a syntax tree contains a cycle: a node or a list in it contains itself");
        return -1;
    }
    return *count % NODES_BETWEEN_SIGNALS == 0 ? PyErr_CheckSignals() : 0; /* Python may run here. */
}

/* Node class → field names: those that identify a node, and those that lead to interesting nodes. */
static PyObject *identity_fields, *child_fields;

/* Contexts follow from the position of a node. */
static const char *const not_identity[] = {"ctx", NULL};
/* Names, and fields whose contexts and operators are shared nodes. */
static const char *const not_children[] = {"ctx", "op", "ops", "id", "attr", "type_comment", "kind", "conversion", "level", "is_async", "simple", NULL};

static int prepare(void)
{
    if (node_class != NULL)
        return 0;
    PyObject *module = PyImport_ImportModule("_ast");
    PyObject *found = module == NULL ? NULL : PyObject_GetAttrString(module, "AST");
    Py_XDECREF(module);
    if (identity_fields == NULL)
        identity_fields = PyDict_New();
    if (child_fields == NULL)
        child_fields = PyDict_New();
    if (found == NULL || identity_fields == NULL || child_fields == NULL) {
        Py_XDECREF(found);
        return -1;
    }
    node_class = found;
    return 0;
}

static bool is_node(PyObject *object)
{
    return PyType_IsSubtype(Py_TYPE(object), (PyTypeObject *)node_class);
}

static bool is_among(PyObject *name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (PyUnicode_CompareWithASCIIString(name, *names) == 0)
            return true;
    return false;
}

/* The fields of a node class except some names: a borrowed reference that the dict owns, or NULL. */
static PyObject *fields_of(PyTypeObject *type, PyObject *known, const char *const *without)
{
    PyObject *found = PyDict_GetItemWithError(known, (PyObject *)type);
    if (found != NULL || PyErr_Occurred())
        return found;
    PyObject *declared = PyObject_GetAttrString((PyObject *)type, "_fields");
    PyObject *names = declared == NULL ? NULL : PySequence_List(declared);
    Py_XDECREF(declared);
    if (names == NULL)
        return NULL;
    for (Py_ssize_t i = PyList_GET_SIZE(names); i-- > 0;)
        if (is_among(PyList_GET_ITEM(names, i), without) && PyList_SetSlice(names, i, i + 1, NULL) < 0) {
            Py_DECREF(names);
            return NULL;
        }
    found = PyList_AsTuple(names);
    Py_DECREF(names);
    if (found == NULL || PyDict_SetItem(known, (PyObject *)type, found) < 0) {
        Py_XDECREF(found);
        return NULL;
    }
    Py_DECREF(found); /* the dict owns it */
    return found;
}

/* --- as text */

static int put_text(sv_writer *to, PyObject *text)
{
    Py_ssize_t size;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);
    return bytes == NULL ? -1 : sv_put(to, bytes, (size_t)size);
}

/* An object that is neither a node nor a list: its repr. */
static int put_plain(sv_writer *to, PyObject *object)
{
    if (object == Py_None)
        return sv_put(to, "None,", 5);
    PyObject *shown = PyObject_Repr(object);
    int status = shown == NULL || put_text(to, shown) < 0 ? -1 : sv_put(to, ",", 1);
    Py_XDECREF(shown);
    return status;
}

/* Write the head of an object, and push its children on the stack, last first. */
static int put_object(sv_writer *to, PyObject *object, PyObject *pending)
{
    if (PyList_CheckExact(object)) {
        char head[32];
        int size = snprintf(head, sizeof head, "%zd[", PyList_GET_SIZE(object));
        if (sv_put(to, head, (size_t)size) < 0)
            return -1;
        for (Py_ssize_t i = PyList_GET_SIZE(object); i-- > 0;)
            if (PyList_Append(pending, PyList_GET_ITEM(object, i)) < 0)
                return -1;
        return 0;
    }
    if (!is_node(object))
        return put_plain(to, object);
    PyObject *fields = fields_of(Py_TYPE(object), identity_fields, not_identity);
    const char *name = Py_TYPE(object)->tp_name, *dot = strrchr(name, '.');
    name = dot == NULL ? name : dot + 1;
    if (fields == NULL || sv_put(to, name, strlen(name)) < 0 || sv_put(to, "(", 1) < 0)
        return -1;
    for (Py_ssize_t i = PyTuple_GET_SIZE(fields); i-- > 0;) {
        PyObject *value;
        int found = sv_optional_attribute(object, PyTuple_GET_ITEM(fields, i), &value);
        if (found < 0)
            return -1;
        int status = PyList_Append(pending, found ? value : Py_None);
        if (found)
            Py_DECREF(value);
        if (status < 0)
            return -1;
    }
    return 0;
}

static PyObject *tree_text(PyObject *Py_UNUSED(module), PyObject *tree)
{
    PyObject *pending = prepare() < 0 ? NULL : PyList_New(0), *result = NULL;
    if (pending == NULL || PyList_Append(pending, tree) < 0) {
        Py_XDECREF(pending);
        return NULL;
    }
    sv_writer to = {NULL, 0, 0};
    Py_ssize_t count = 0;
    int status = 0;
    while (status == 0 && PyList_GET_SIZE(pending) > 0) {
        Py_ssize_t last = PyList_GET_SIZE(pending) - 1;
        PyObject *object = Py_NewRef(PyList_GET_ITEM(pending, last));
        status = PyList_SetSlice(pending, last, last + 1, NULL);
        if (status == 0)
            status = count_node(&count, to.used);
        if (status == 0)
            status = put_object(&to, object, pending);
        Py_DECREF(object);
    }
    if (status == 0)
        result = PyUnicode_DecodeUTF8((const char *)to.bytes, (Py_ssize_t)to.used, NULL);
    Py_DECREF(pending);
    PyMem_Free(to.bytes);
    return result;
}

/* --- nodes */

/* Append the children of a node. */
static int add_below(PyObject *found, PyObject *node)
{
    PyObject *fields = fields_of(Py_TYPE(node), child_fields, not_children);
    if (fields == NULL)
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(fields); i++) {
        PyObject *value;
        int is_there = sv_optional_attribute(node, PyTuple_GET_ITEM(fields, i), &value);
        if (is_there <= 0) {
            if (is_there < 0)
                return -1;
            continue;
        }
        int status = 0;
        if (PyList_CheckExact(value)) {
            for (Py_ssize_t k = 0; status == 0 && k < PyList_GET_SIZE(value); k++)
                if (is_node(PyList_GET_ITEM(value, k)))
                    status = PyList_Append(found, PyList_GET_ITEM(value, k));
        } else if (is_node(value)) {
            status = PyList_Append(found, value);
        }
        Py_DECREF(value);
        if (status < 0)
            return -1;
    }
    return 0;
}

/* Whether a node is of one of the classes, and in the context if it has one. -1 with an exception. */
static int is_wanted(PyObject *node, PyObject *classes, PyObject *context)
{
    static PyObject *name;
    int wanted = PySet_Contains(classes, (PyObject *)Py_TYPE(node));
    if (wanted <= 0 || context == Py_None)
        return wanted;
    if (name == NULL && (name = PyUnicode_InternFromString("ctx")) == NULL)
        return -1;
    PyObject *own;
    int is_there = sv_optional_attribute(node, name, &own);
    if (is_there <= 0)
        return is_there < 0 ? -1 : 1;
    wanted = (PyObject *)Py_TYPE(own) == context;
    Py_DECREF(own);
    return wanted;
}

static PyObject *tree_nodes(PyObject *Py_UNUSED(module), PyObject *const *arguments, Py_ssize_t count)
{
    PyObject *classes = count > 1 ? arguments[1] : Py_None, *context = count > 2 ? arguments[2] : Py_None;
    if (count < 1 || count > 3 || (classes != Py_None && !PyAnySet_Check(classes))) {
        PyErr_SetString(PyExc_TypeError, "tree_nodes takes nodes, and optionally a set of classes and a context");
        return NULL;
    }
    PyObject *found = prepare() < 0 ? NULL : PySequence_List(arguments[0]);
    if (found == NULL)
        return NULL;
    Py_ssize_t looked_at = 0;
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(found); i++) { /* grows meanwhile */
        PyObject *node = Py_NewRef(PyList_GET_ITEM(found, i));
        int status = count_node(&looked_at, 0);
        if (status == 0 && !is_node(node)) {
            PyErr_Format(PyExc_TypeError, "tree_nodes takes nodes of a syntax tree, not a %s", Py_TYPE(node)->tp_name);
            status = -1;
        }
        if (status == 0)
            status = add_below(found, node);
        Py_DECREF(node);
        if (status < 0) {
            Py_DECREF(found);
            return NULL;
        }
    }
    if (classes == Py_None)
        return found;
    PyObject *wanted = PyList_New(0);
    for (Py_ssize_t i = 0; wanted != NULL && i < PyList_GET_SIZE(found); i++) {
        PyObject *node = PyList_GET_ITEM(found, i);
        int takes = is_wanted(node, classes, context);
        if (takes < 0 || (takes && PyList_Append(wanted, node) < 0))
            Py_CLEAR(wanted);
    }
    Py_DECREF(found);
    return wanted;
}

static PyMethodDef functions[] = {
    {"tree_text", tree_text, METH_O,
     PyDoc_STR("tree_text(tree, /)\n--\n\n"
               "A text that uniquely identifies a syntax tree or a list of trees. Locations are not part of it.\n\n"
               ">>> import ast\n>>> from samovar._native import tree_text\n>>> tree_text(ast.parse('-x', mode='eval'))\n"
               "\"Expression(UnaryOp(USub(Name('x',\"")},
    {"tree_nodes", (PyCFunction)(void (*)(void))tree_nodes, METH_FASTCALL,
     PyDoc_STR("tree_nodes(nodes, classes=None, context=None, /)\n--\n\n"
               "Nodes and their descendants, level by level, except operators and contexts. If given, only nodes of some classes, and\n"
               "of those with a context, only those in this one.\n\n"
               ">>> import ast\n>>> from samovar._native import tree_nodes\n"
               ">>> [each.id for each in tree_nodes([ast.parse('x + y * z')], {ast.Name})]\n['x', 'y', 'z']")},
    {NULL, NULL, 0, NULL},
};

int sv_syntax_tree_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
