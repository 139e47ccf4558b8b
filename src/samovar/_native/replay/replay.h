/* Declarations shared by the native replay. Words are in replay_words.c, objects are read in replay_reading.c, and questions
   are asked in replay.c. */
#ifndef SAMOVAR_REPLAY_H
#define SAMOVAR_REPLAY_H

#include "launch/runtime.h"

/* One replay. All references are borrowed from the caller. */
typedef struct {
    PyObject *rows;
    PyObject *objects;
    PyObject *function;
    PyObject *signature; /* of the kernel */
    PyObject *arguments;
    PyObject *options;
    bool locations;
    uint64_t moment;  /* its serial number: files checked in it are not checked again */
    PyObject *read;   /* number → object, for what is not read here */
    PyObject *agrees; /* (number, question, expected) → bool, for what is not asked here */
} sv_replay;

/* A path: (parent, step, key). */
typedef struct {
    PyObject *tuple; /* a reference, which owns the others */
    Py_ssize_t parent;
    PyObject *step;
    PyObject *key;
} sv_row;

/* Set once by the lens, which keeps adding to some of them (`lens/recognition.py`). */
typedef struct {
    PyObject *exact_kinds; /* pairs of a type and the name of its kind */
    PyObject *base_kinds;  /* identity of a base → kind of the objects of derived classes */
    PyObject *known;       /* identity of an intrinsic → anything */
    PyObject *names;       /* known function → its canonical name */
    PyObject *learn;       /* updates the last three with what newly imported modules define */
    PyObject *unloaded;    /* (name of a module of ours, name in it) → canonical name of an intrinsic that is there, or None */
    PyObject *carried;     /* identities of code that carries its source */
    PyObject *declaration; /* the class of funcs */
    PyObject *absent, *unread;
} sv_replay_tables;
extern sv_replay_tables sv_lens;

/* --- words

   The lens has the tables of all questions, steps, kinds and tags. These are the ones that native code uses. */

#define SV_KINDS(X) X(ABSENT) X(SAMOVAR) X(INTRINSIC) X(OBJECT) X(FUNC) X(ANNOTATION)
#define SV_MARKS(X) X(kind) X(dtype) X(path)
/* Questions and steps that share a handler, and names of attributes. */
#define SV_OTHER_WORDS(X) X(class) X(bases) X(attribute) X(global) X(builtin) X(signature) X(digests) X(key) X(name) X(__wrapped__)

#define SV_DECLARE_WORD(word) extern PyObject *sv_word_##word;
SV_KINDS(SV_DECLARE_WORD)
SV_MARKS(SV_DECLARE_WORD)
SV_OTHER_WORDS(SV_DECLARE_WORD)

/* The handler of a step from a parent: returns a new reference, or NULL without an exception if Python must read it. */
typedef struct {
    const char *text;
    PyObject *(*read)(const sv_replay *, const sv_row *);
    PyObject *word; /* interned, created once */
} sv_step;
extern sv_step sv_steps[];
extern const int sv_step_count;

enum { SV_DISAGREES, SV_AGREES, SV_PASSES }; /* SV_PASSES: ask Python */

/* The handler of a question. */
typedef struct {
    const char *text;
    /* One of the two; neither if the answer is only ever cached. */
    int (*ask_object)(const sv_replay *, const sv_row *, PyObject *object, PyObject *expected);
    int (*ask_path)(const sv_replay *, Py_ssize_t number, const sv_row *, PyObject *expected);
    bool by_class;  /* Python may have answered for all objects of a class */
    PyObject *word; /* interned, created once */
} sv_question;
extern sv_question sv_questions[];
extern const int sv_question_count;

/* Words come from files, where they were interned; a word that is not interned is left to Python. */
static inline bool sv_is_word(PyObject *text, PyObject *word)
{
    return text == word;
}

/* The name of the kind of an object, if a base of its class decides it, a new reference; NULL without an exception if it is
   left to Python. */
PyObject *sv_base_kind(PyObject *object);

/* The digest of some lines from the first line of some code on, a new reference; NULL without an exception if it is left to
   Python. Python may run here. */
PyObject *sv_lines_digest(PyObject *code, Py_ssize_t count, uint64_t moment);

/* The content of (..., what, content), or NULL. */
PyObject *sv_marked(PyObject *encoded, PyObject *what);
/* The (table, word) pairs, a new reference. */
PyObject *sv_replay_words(void);
/* Whether the lens has every word that is used here. 0, or -1 with an exception. */
int sv_check_words(PyObject *tables);

/* --- reading */

/* To be released if true. */
bool sv_take_row(const sv_replay *self, Py_ssize_t number, sv_row *taken);
/* The object at a path if it was already read, a new reference; otherwise NULL without an exception. */
PyObject *sv_read_before(const sv_replay *self, Py_ssize_t number);
/* A new reference; NULL with an exception. Python may run here. */
PyObject *sv_object_of(const sv_replay *self, Py_ssize_t number);

/* --- cached answers about classes */

/* Whether Python gave this answer about an object of this class before. */
bool sv_was_answered(PyObject *object, PyObject *question, PyObject *answer);
/* `class` is the state of the class before the question was asked: if it has changed meanwhile, the answer may be about
   either. */
void sv_remember_answer(PyObject *object, const sv_type_state *class, PyObject *question, PyObject *answer);

#endif
