/* Guard programs, from a sequence of tuples or from bytes to an array of instructions. Everything that can be wrong with a
   program is found here, so that running it needs no checks: registers are assigned once and before use, offsets lie inside the
   block. */
#include "program.h"

#include <string.h>

/* Per register while compiling; TENSOR + n: a tensor guard says that it has n dimensions. */
enum { UNASSIGNED, ASSIGNED, TENSOR };

typedef struct {
    sv_program *program;
    Py_ssize_t block_size;
    uint8_t *state;
    Py_ssize_t *guards; /* per register: its tensor guard */
    PyObject *objects;  /* a list that (..., what, number) refers to, or NULL */
    PyObject *resolve;  /* (..., what, …) → the operand, or NULL */
} compiler;

enum { MAX_FLAGS = 4 };

static int malformed(const char *name, const char *what)
{
    PyErr_Format(PyExc_ValueError, "guard program: %s: %s", name, what);
    return -1;
}

static int take_register(compiler *self, const char *name, Py_ssize_t value, uint16_t *number)
{
    if (value < 0 || value >= self->program->register_count)
        return malformed(name, "no such register");
    *number = (uint16_t)value;
    return 0;
}

static int take_object(const char *name, PyTypeObject *type, PyObject *item, PyObject **place)
{
    if (type != NULL && !PyObject_TypeCheck(item, type)) {
        PyErr_Format(PyExc_TypeError, "guard program: %s: expected %s, not %s", name, type->tp_name, Py_TYPE(item)->tp_name);
        return -1;
    }
    *place = Py_NewRef(item);
    return 0;
}

/* Names are interned, so that dictionaries find them by address. */
static int take_name(const char *name, PyObject *item, PyObject **place)
{
    if (take_object(name, &PyUnicode_Type, item, place) < 0)
        return -1;
    if (PyUnicode_CheckExact(item))
        PyUnicode_InternInPlace(place);
    return 0;
}

static int take_number(compiler *self, sv_instruction *instruction, const char *name, char kind, Py_ssize_t value)
{
    switch (kind) {
    case 'D': /* a register to assign */
        if (take_register(self, name, value, &instruction->destination) < 0)
            return -1;
        if (self->state[instruction->destination] != UNASSIGNED)
            return malformed(name, "the register is assigned already");
        return 0;
    case 'S': /* a register to read */
        if (take_register(self, name, value, &instruction->source) < 0)
            return -1;
        if (self->state[instruction->source] == UNASSIGNED)
            return malformed(name, "the register is not assigned yet");
        return 0;
    case 'H': /* a second register to read */
        if (take_register(self, name, value, &instruction->view) < 0)
            return -1;
        if (self->state[instruction->view] == UNASSIGNED)
            return malformed(name, "the register is not assigned yet");
        return 0;
    case 'A': /* a register that a `tensor` guard covers */
        if (take_register(self, name, value, &instruction->source) < 0)
            return -1;
        if (self->state[instruction->source] < TENSOR)
            return malformed(name, "no tensor guard covers the register");
        return 0;
    case 't':
        if (value < 0 || value >= SV_DTYPE_COUNT)
            return malformed(name, "no such dtype");
        instruction->object = Py_NewRef((PyObject *)sv_dtype_of((sv_dtype_code)value));
        return 0;
    case 'n':
        instruction->number = value;
        return value < 0 ? malformed(name, "a number is negative") : 0;
    default: Py_UNREACHABLE();
    }
}

static int take_item(sv_instruction *instruction, const char *name, char kind, PyObject *item)
{
    switch (kind) {
    case 'N': return take_name(name, item, &instruction->name);
    case 'k': return take_object(name, NULL, item, &instruction->name);
    case 'o': return take_object(name, NULL, item, &instruction->object);
    case 'c': return take_object(name, &PyCell_Type, item, &instruction->object);
    case 'm': return take_object(name, &PyDict_Type, item, &instruction->object);
    case 'b': return take_object(name, &PyDict_Type, item, &instruction->builtins);
    case 'y': return take_object(name, &PyType_Type, item, &instruction->object);
    case 'w': return take_object(name, &_PyWeakref_RefType, item, &instruction->object);
    case 'C': return take_object(name, &PyCode_Type, item, &instruction->object);
    case 'T': return take_object(name, &PyTuple_Type, item, &instruction->object);
    case 'p': return take_object(name, item == Py_None ? NULL : &PyTuple_Type, item, &instruction->object);
    default: Py_UNREACHABLE();
    }
}

/* Two tuples of registers: those written, and all of them. */
static int take_overlap(compiler *self, sv_instruction *instruction, PyObject *written, PyObject *all)
{
    if (!PyTuple_Check(written) || !PyTuple_Check(all))
        return malformed("disjoint", "expected two tuples of registers");
    Py_ssize_t written_count = PyTuple_GET_SIZE(written), all_count = PyTuple_GET_SIZE(all);
    sv_overlap *overlap = PyMem_Calloc(1, sizeof *overlap + sizeof *overlap->registers * (size_t)(written_count + all_count));
    if (overlap == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    instruction->overlap = overlap;
    sv_instruction one = {0};
    for (Py_ssize_t i = 0; i < written_count + all_count; i++) {
        bool is_written = i < written_count;
        PyObject *item = is_written ? PyTuple_GET_ITEM(written, i) : PyTuple_GET_ITEM(all, i - written_count);
        Py_ssize_t number = PyNumber_AsSsize_t(item, PyExc_ValueError);
        if ((number == -1 && PyErr_Occurred()) || take_number(self, &one, "disjoint", 'A', number) < 0)
            return -1;
        bool seen = false;
        for (int k = 0; k < overlap->count; k++)
            seen |= overlap->registers[k].number == one.source;
        if (seen)
            continue;
        overlap->registers[overlap->count].number = one.source;
        overlap->registers[overlap->count++].written = is_written;
    }
    return 0;
}

static int check_slots(compiler *self, const char *name, Py_ssize_t offset, Py_ssize_t slots)
{
    if (offset % 8 != 0 || offset > self->block_size || slots * 8 > self->block_size - offset)
        return malformed(name, "the slots lie outside the argument block");
    return 0;
}

/* What remains once the operands are read: effects on the registers, and checks across operands. */
static int finish(compiler *self, sv_instruction *instruction, const char *name, const bool *flags)
{
    sv_program *program = self->program;
    if (instruction->operation <= SV_LOAD_FUNCTION) {
        self->state[instruction->destination] = ASSIGNED;
        instruction->flag = instruction->operation == SV_LOAD_PARAMETER || instruction->operation == SV_LOAD_CONSTANT;
        if (!instruction->flag)
            program->owned[program->owned_count++] = instruction->destination;
    }
    switch (instruction->operation) {
    case SV_LOAD_PARAMETER:
        if (instruction->number >= UINT16_MAX)
            return malformed(name, "no such parameter");
        if (instruction->number >= program->parameter_count)
            program->parameter_count = (int)instruction->number + 1;
        return 0;
    case SV_STABLE: /* a promise, not a step */
        if (instruction->number >= program->parameter_count)
            return malformed(name, "no such parameter is loaded");
        if (flags[0])
            program->roots[program->root_count++] = (uint16_t)instruction->number;
        program->count--;
        return 0;
    case SV_GUARD_TENSOR: {
        const sv_dtype *dtype = (const sv_dtype *)instruction->object;
        bool contiguous = flags[0], wide = flags[1], needs_grad = flags[2], written = flags[3];
        if (instruction->number > SV_MAX_NDIM)
            return malformed(name, "too many dimensions");
        if (self->state[instruction->source] >= TENSOR)
            return malformed(name, "a tensor guard covers the register already");
        self->state[instruction->source] = (uint8_t)(TENSOR + instruction->number);
        self->guards[instruction->source] = program->count - 1;
        program->view_of_register[instruction->source] = (uint16_t)program->view_count;
        instruction->view = (uint16_t)program->view_count++;
        instruction->flag = contiguous;
        instruction->signature = sv_signature(dtype, (int)instruction->number, wide, needs_grad, false);
        /* Only a written array has to be writable. */
        instruction->mask = written ? ~0u : ~sv_signature(sv_dtype_of(0), 0, false, false, true);
        return 0;
    }
    case SV_GUARD_SAME_FUNCTION:
        return PyFunction_Check(instruction->name) ? 0 : malformed(name, "a function is expected");
    case SV_GUARD_DISJOINT:
        instruction->flag = flags[0];
        return 0;
    case SV_FILL_ARRAY: {
        instruction->flag = flags[0];
        instruction->view = program->view_of_register[instruction->source];
        int ndim = self->state[instruction->source] - TENSOR;
        if (check_slots(self, name, instruction->number, 1 + (instruction->flag ? 2 : 1) * ndim) < 0)
            return -1;
        /* An array is filled in by its guard, as soon as that holds. */
        sv_instruction *guard = &program->instructions[self->guards[instruction->source]];
        if (guard->fill == SV_NO_FILL) {
            guard->fill = instruction->flag ? SV_FILL_STRIDES : SV_FILL_SHAPE;
            guard->number = instruction->number;
            program->count--;
        }
        return 0;
    }
    case SV_FILL_SCALAR:
        return check_slots(self, name, instruction->number, 1);
    default:
        return 0;
    }
}

static const char *const parts[] = {"object", "type", "code", "globals", "builtins"};
enum { PART_COUNT = sizeof parts / sizeof *parts };

int sv_part_number(PyObject *what)
{
    for (int part = 0; part < PART_COUNT; part++)
        if (PyUnicode_Check(what) && PyUnicode_CompareWithASCIIString(what, parts[part]) == 0)
            return part;
    return -1;
}

/* A part of the object with a number: a borrowed reference. */
static PyObject *part_of(const compiler *self, int part, Py_ssize_t number)
{
    if (self->objects == NULL || part >= PART_COUNT) {
        PyErr_SetString(PyExc_ValueError, "guard program: no objects are given");
        return NULL;
    }
    PyObject *object = PyList_GetItem(self->objects, number);
    if (object == NULL || part == 0)
        return object;
    if (part == 1)
        return (PyObject *)Py_TYPE(object);
    if (!PyFunction_Check(object)) {
        PyErr_Format(PyExc_TypeError, "guard program: the %s of a function is wanted, not of a %s", parts[part], Py_TYPE(object)->tp_name);
        return NULL;
    }
    const PyFunctionObject *function = (PyFunctionObject *)object;
    return part == 2 ? function->func_code : part == 3 ? function->func_globals : function->func_builtins;
}

/* What a mark (..., what, …) stands for, or the operand itself: a new reference. */
static PyObject *resolved(const compiler *self, PyObject *item)
{
    if (!sv_is_mark(item))
        return Py_NewRef(item);
    int part = sv_part_number(PyTuple_GET_ITEM(item, 1));
    if (part >= 0 && self->objects != NULL && PyTuple_GET_SIZE(item) == 3) {
        Py_ssize_t number = PyNumber_AsSsize_t(PyTuple_GET_ITEM(item, 2), PyExc_IndexError);
        return number == -1 && PyErr_Occurred() ? NULL : Py_XNewRef(part_of(self, part, number));
    }
    return self->resolve == NULL ? Py_NewRef(item) : PyObject_CallOneArg(self->resolve, item);
}

/* The operands of an instruction: those of a tuple, or those that follow in some bytes. */
typedef struct {
    PyObject *tuple;
    Py_ssize_t next;
    sv_reader *bytes; /* where `tuple` is NULL */
} operands;

static int next_number(operands *source, char kind, Py_ssize_t *number)
{
    if (source->tuple == NULL)
        return sv_next_number(source->bytes, number);
    PyObject *item = PyTuple_GET_ITEM(source->tuple, source->next++);
    *number = kind == 't' ? sv_dtype_number(item) : PyNumber_AsSsize_t(item, PyExc_ValueError);
    return *number == -1 && PyErr_Occurred() ? -1 : 0;
}

/* A new reference, or NULL with an exception. */
static PyObject *next_item(const compiler *self, operands *source)
{
    if (source->tuple != NULL)
        return resolved(self, PyTuple_GET_ITEM(source->tuple, source->next++));
    int part;
    Py_ssize_t number;
    PyObject *item;
    if (sv_next_item(source->bytes, &item, &part, &number) < 0)
        return NULL;
    if (item == NULL)
        return Py_XNewRef(part_of(self, part, number));
    PyObject *result = resolved(self, item);
    Py_DECREF(item);
    return result;
}

static int take_operand(compiler *self, sv_instruction *instruction, const sv_form *form, char kind, operands *source, bool *flag)
{
    if (sv_is_number(kind)) {
        Py_ssize_t number;
        return next_number(source, kind, &number) < 0 ? -1 : take_number(self, instruction, form->name, kind, number);
    }
    PyObject *item = next_item(self, source);
    if (item == NULL)
        return -1;
    int result;
    if (kind == 'f') {
        result = PyObject_IsTrue(item);
        *flag = result > 0;
    } else {
        result = take_item(instruction, form->name, kind, item);
    }
    Py_DECREF(item);
    return result < 0 ? -1 : 0;
}

static int compile_one(compiler *self, const sv_form *form, operands *source)
{
    sv_instruction *instruction = &self->program->instructions[self->program->count];
    memset(instruction, 0, sizeof *instruction);
    instruction->operation = (uint8_t)form->operation;
    self->program->count++; /* from here on, freeing the program frees what the instruction holds */
    bool flags[MAX_FLAGS] = {false};
    int flag_count = 0;
    const char *kinds = form->kinds;
    if (form->operation == SV_GUARD_DISJOINT) {
        PyObject *written = next_item(self, source), *all = written == NULL ? NULL : next_item(self, source);
        int result = all == NULL ? -1 : take_overlap(self, instruction, written, all);
        Py_XDECREF(written);
        Py_XDECREF(all);
        if (result < 0)
            return -1;
        kinds += 2;
    }
    for (; *kinds != '\0'; kinds++) {
        if (take_operand(self, instruction, form, *kinds, source, &flags[flag_count]) < 0)
            return -1;
        flag_count += *kinds == 'f';
    }
    return finish(self, instruction, form->name, flags);
}

/* Loads and guards keep their order; fills that no guard does go to the end, in theirs. */
static int move_fills(sv_program *program)
{
    sv_instruction *sorted = PyMem_Calloc((size_t)program->count + 1, sizeof *sorted);
    if (sorted == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t next = 0;
    for (int fills = 0; fills < 2; fills++)
        for (Py_ssize_t i = 0; i < program->count; i++)
            if ((program->instructions[i].operation >= SV_FILL_ARRAY) == fills)
                sorted[next++] = program->instructions[i];
    PyMem_Free(program->instructions);
    program->instructions = sorted;
    return 0;
}

static int compile_tuples(compiler *self, PyObject *fast, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count && i < PySequence_Fast_GET_SIZE(fast); i++) {
        PyObject *tuple = PySequence_Fast_GET_ITEM(fast, i);
        const sv_form *form = sv_form_of(tuple);
        operands source = {.tuple = tuple, .next = 1};
        if (form == NULL || compile_one(self, form, &source) < 0)
            return -1;
    }
    return 0;
}

static int compile_bytes(compiler *self, sv_reader *bytes, Py_ssize_t count)
{
    operands source = {.bytes = bytes};
    for (Py_ssize_t i = 0; i < count; i++) {
        const sv_form *form = sv_next_form(bytes);
        if (form == NULL || compile_one(self, form, &source) < 0)
            return -1;
    }
    return bytes->at == bytes->end ? 0 : malformed("program", "something follows its end");
}

int sv_program_compile(sv_program *program, PyObject *source, int registers, Py_ssize_t block_size, PyObject *objects,
                       PyObject *resolve)
{
    memset(program, 0, sizeof *program);
    if (registers < 0 || registers >= UINT16_MAX)
        return malformed("registers", "out of range");
    PyObject *fast = NULL;
    sv_reader bytes;
    Py_ssize_t length;
    if (PyBytes_CheckExact(source)) {
        bytes.at = (const uint8_t *)PyBytes_AS_STRING(source);
        bytes.end = bytes.at + PyBytes_GET_SIZE(source);
        if (sv_next_number(&bytes, &length) < 0)
            return -1;
        if (length > bytes.end - bytes.at) /* each takes a byte at least */
            return malformed("program", "it ends too soon");
    } else {
        fast = PySequence_Fast(source, "a guard program is a sequence of tuples");
        if (fast == NULL)
            return -1;
        length = PySequence_Fast_GET_SIZE(fast);
    }
    program->register_count = registers;
    size_t count = (size_t)length, room = (size_t)registers + 1;
    compiler self = {program, block_size, PyMem_Calloc(room, 1), PyMem_Calloc(room, sizeof(Py_ssize_t)), objects, resolve};
    program->instructions = PyMem_Calloc(count + 1, sizeof(sv_instruction));
    program->owned = PyMem_Calloc(room, sizeof(uint16_t));
    program->view_of_register = PyMem_Calloc(room, sizeof(uint16_t));
    program->roots = PyMem_Calloc(count + 1, sizeof(uint16_t));
    program->block_size = block_size;
    int result = -1;
    if (self.state == NULL || self.guards == NULL || program->instructions == NULL || program->owned == NULL || program->view_of_register == NULL ||
        program->roots == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if ((fast == NULL ? compile_bytes(&self, &bytes, length) : compile_tuples(&self, fast, length)) < 0)
        goto done;
    result = move_fills(program);
    if (result == 0)
        sv_program_mark_stable(program);
done:
    PyMem_Free(self.state);
    PyMem_Free(self.guards);
    Py_XDECREF(fast);
    if (result < 0)
        sv_program_free(program);
    return result;
}

static int add_operand(PyObject *operands, PyObject *operand)
{
    return operand == NULL ? 0 : PyList_Append(operands, operand);
}

PyObject *sv_program_operands(const sv_program *program)
{
    PyObject *operands = PyList_New(0);
    int result = operands == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < program->count; i++) {
        const sv_instruction *instruction = &program->instructions[i];
        if (add_operand(operands, instruction->object) < 0 || add_operand(operands, instruction->name) < 0 ||
            add_operand(operands, instruction->builtins) < 0)
            result = -1;
    }
    for (int i = 0; result == 0 && i < program->root_count; i++) {
        PyObject *root = PyLong_FromLong(program->roots[i]);
        result = root == NULL ? -1 : PyList_Append(operands, root);
        Py_XDECREF(root);
    }
    if (result < 0)
        Py_CLEAR(operands);
    return operands;
}

int sv_program_traverse(const sv_program *program, visitproc visit, void *arg)
{
    for (Py_ssize_t i = 0; i < program->count; i++) {
        Py_VISIT(program->instructions[i].object);
        Py_VISIT(program->instructions[i].name);
        Py_VISIT(program->instructions[i].builtins);
    }
    for (int i = 0; i < SV_SNAPSHOTS && program->snapshots[i] != NULL; i++) {
        int visited = sv_snapshot_traverse(program->snapshots[i], visit, arg);
        if (visited != 0)
            return visited;
    }
    return 0;
}

void sv_program_free(sv_program *program)
{
    sv_program old = *program;
    memset(program, 0, sizeof *program);
    for (Py_ssize_t i = 0; i < old.count; i++) {
        Py_XDECREF(old.instructions[i].object);
        Py_XDECREF(old.instructions[i].name);
        Py_XDECREF(old.instructions[i].builtins);
        if (old.instructions[i].operation == SV_GUARD_DISJOINT)
            PyMem_Free(old.instructions[i].overlap);
    }
    PyMem_Free(old.instructions);
    PyMem_Free(old.owned);
    PyMem_Free(old.view_of_register);
    PyMem_Free(old.roots);
    for (int i = 0; i < SV_SNAPSHOTS; i++)
        sv_snapshot_release(old.snapshots[i]);
}
