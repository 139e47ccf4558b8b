/* The serialized formats of guard programs: what tuples, bytes (program_bytes.c) and the compiler (program.c) have in
   common. */
#ifndef SAMOVAR_PROGRAM_H
#define SAMOVAR_PROGRAM_H

#include "cache/bytes.h"
#include "launch/runtime.h"

/* An instruction: its name, and the kind of each operand. */
typedef struct {
    const char *name;
    const char *kinds;
    sv_operation operation;
} sv_format;

/* The format of an instruction given as a tuple, with the required number of operands; NULL with an exception. */
const sv_format *sv_format_of(PyObject *tuple);

/* Whether a kind of operand is a number: a register, an offset, a dtype. */
bool sv_is_number(char kind);

/* (..., what, …): a tagged tuple that stands for an operand. */
bool sv_is_mark(PyObject *item);
/* The part of an object that a tag names, or -1 if Python resolves it. */
int sv_part_number(PyObject *what);
/* All of them, in order: a new reference. */
PyObject *sv_part_names(void);

/* The rest of a program in bytes. Reading returns -1 or NULL with an exception if the data is invalid. */
const sv_format *sv_next_format(sv_reader *self);
int sv_next_number(sv_reader *self, Py_ssize_t *number);
/* The operand, a new reference; or NULL, and the object number and part that it refers to. */
int sv_next_item(sv_reader *self, PyObject **item, int *part, Py_ssize_t *number);

#endif
