/* The words that native replay uses: a subset of the tables of the lens. */
#include "replay/replay.h"

#define DEFINE(word) PyObject *sv_word_##word;
SV_KINDS(DEFINE)
SV_MARKS(DEFINE)
SV_OTHER_WORDS(DEFINE)

PyObject *sv_marked(PyObject *encoded, PyObject *what)
{
    if (!PyTuple_CheckExact(encoded) || PyTuple_GET_SIZE(encoded) != 3 || PyTuple_GET_ITEM(encoded, 0) != Py_Ellipsis)
        return NULL;
    return sv_is_word(PyTuple_GET_ITEM(encoded, 1), what) ? PyTuple_GET_ITEM(encoded, 2) : NULL;
}

static bool intern(PyObject **place, const char *text)
{
    return *place != NULL || (*place = PyUnicode_InternFromString(text)) != NULL;
}

static int intern_words(void)
{
    for (int i = 0; i < sv_question_count; i++)
        if (!intern(&sv_questions[i].word, sv_questions[i].text))
            return -1;
    for (int i = 0; i < sv_step_count; i++)
        if (!intern(&sv_steps[i].word, sv_steps[i].text))
            return -1;
#define INTERN(word) &&intern(&sv_word_##word, #word)
    bool done = true SV_KINDS(INTERN) SV_MARKS(INTERN) SV_OTHER_WORDS(INTERN);
    return done ? 0 : -1;
}

static int add_pair(PyObject *list, const char *table, PyObject *word)
{
    PyObject *pair = Py_BuildValue("sO", table, word);
    int result = pair == NULL ? -1 : PyList_Append(list, pair);
    Py_XDECREF(pair);
    return result;
}

PyObject *sv_replay_words(void)
{
    PyObject *list = intern_words() < 0 ? NULL : PyList_New(0);
    if (list == NULL)
        return NULL;
    int failed = 0;
    for (int i = 0; i < sv_question_count; i++)
        failed |= add_pair(list, "questions", sv_questions[i].word);
    for (int i = 0; i < sv_step_count; i++)
        failed |= add_pair(list, "steps", sv_steps[i].word);
#define ADD_KIND(word) failed |= add_pair(list, "kinds", sv_word_##word);
#define ADD_MARK(word) failed |= add_pair(list, "marks", sv_word_##word);
    SV_KINDS(ADD_KIND)
    SV_MARKS(ADD_MARK)
    if (failed)
        Py_CLEAR(list);
    return list;
}

/* Otherwise one of the two sides is of another version. */
int sv_check_words(PyObject *tables)
{
    PyObject *list = sv_replay_words();
    int known = list == NULL ? -1 : 1;
    for (Py_ssize_t i = 0; known == 1 && i < PyList_GET_SIZE(list); i++) {
        PyObject *pair = PyList_GET_ITEM(list, i), *table = PyDict_GetItemWithError(tables, PyTuple_GET_ITEM(pair, 0));
        known = table != NULL ? PySequence_Contains(table, PyTuple_GET_ITEM(pair, 1)) : PyErr_Occurred() ? -1 : 0;
        if (known == 0)
            PyErr_Format(PyExc_RuntimeError, "the lens has no %R among its %U", PyTuple_GET_ITEM(pair, 1), PyTuple_GET_ITEM(pair, 0));
    }
    Py_XDECREF(list);
    return known == 1 ? 0 : -1;
}
