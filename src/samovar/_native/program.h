/* Guard programs as they are written down: what their tuples, their bytes (program_bytes.c) and their compiler (program.c) have
   in common. */
#ifndef SAMOVAR_PROGRAM_H
#define SAMOVAR_PROGRAM_H

#include "bytes.h"
#include "runtime.h"

/* An instruction: its name, and what each of its operands is. */
typedef struct {
    const char *name;
    const char *kinds;
    sv_operation operation;
} sv_form;

/* The form of an instruction that is a tuple, with as many operands as it needs; NULL with an exception. */
const sv_form *sv_form_of(PyObject *tuple);

/* Is a kind of operand a number: a register, an offset, a dtype? */
bool sv_is_number(char kind);

/* (..., what, …): stands for an operand. */
bool sv_is_mark(PyObject *item);
/* Which part of an object a mark wants, or -1 if that is not for native code to say. */
int sv_part_number(PyObject *what);
/* All of them, in their order: a new reference. */
PyObject *sv_part_names(void);

/* What is left of a program in bytes. Reading gives -1 or NULL with an exception where there is no such thing. */
const sv_form *sv_next_form(sv_reader *self);
int sv_next_number(sv_reader *self, Py_ssize_t *number);
/* The operand, a new reference; or NULL, and the part of the object with a number that it is. */
int sv_next_item(sv_reader *self, PyObject **item, int *part, Py_ssize_t *number);

#endif
