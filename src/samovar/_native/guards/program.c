/* The compiler of guard programs: from tuples or bytes to an array of instructions. All validation is here, so that running
   a program needs no checks: registers are assigned once and before use, offsets lie inside the block. */
#include "guards/program.h"
#include "array/layout.h"

#include <limits.h>

/* State per register while compiling; TENSOR + n: a tensor guard has established n dimensions. */
enum { UNASSIGNED, ASSIGNED, TENSOR };

typedef struct {
    sv_program *program;
    Py_ssize_t block_size;
    uint8_t *state;
    Py_ssize_t *guards; /* per register: its tensor guard */
    PyObject **constants; /* per register: its constant, or NULL; borrowed from the instruction */
    PyObject *objects;  /* the list that (..., what, number) refers to, or NULL */
    PyObject *resolve;  /* (..., what, …) → the operand, or NULL */
} compiler;

enum { MAX_FLAGS = 12, MAX_NUMBERS = 2 };
_Static_assert((int)SV_FACT_COUNT < (int)MAX_FLAGS, "the facts of a tensor are operands of one instruction");

/* The operands of an instruction, except its objects, which are stored directly. */
typedef struct {
    uint16_t destination;
    uint16_t source;
    uint16_t second; /* another register to read */
    Py_ssize_t number; /* the first one */
    Py_ssize_t numbers[MAX_NUMBERS];
    sv_dtype *dtype;
    bool flags[MAX_FLAGS];
    int number_count;
    int flag_count;
} decoded;

static int malformed(const char *name, const char *what)
{
    PyErr_Format(PyExc_ValueError, "guard program: %s: %s", name, what);
    return -1;
}

/* --- operands */

static int take_register(const compiler *self, const char *name, char kind, Py_ssize_t value, uint16_t *number)
{
    if (value < 0 || value >= self->program->register_count)
        return malformed(name, "no such register");
    *number = (uint16_t)value;
    switch (kind) {
    case 'D': /* to be assigned */
        return self->state[value] == UNASSIGNED ? 0 : malformed(name, "the register is already assigned");
    case 'A': /* to be read, and covered by a `tensor` guard */
        return self->state[value] >= TENSOR ? 0 : malformed(name, "no tensor guard covers the register");
    default:  /* to be read */
        return self->state[value] != UNASSIGNED ? 0 : malformed(name, "the register is not assigned yet");
    }
}

static int take_number(const compiler *self, decoded *into, const char *name, char kind, Py_ssize_t value)
{
    switch (kind) {
    case 'D': return take_register(self, name, kind, value, &into->destination);
    case 'S':
    case 'A': return take_register(self, name, kind, value, &into->source);
    case 'H': return take_register(self, name, kind, value, &into->second);
    case 't':
        if (value < 0 || value >= SV_DTYPE_COUNT)
            return malformed(name, "no such dtype");
        into->dtype = sv_dtype_of((sv_dtype_code)value);
        return 0;
    case 'n':
        into->numbers[into->number_count++] = value;
        into->number = into->numbers[0];
        return value < 0 ? malformed(name, "a number is negative") : 0;
    default: Py_UNREACHABLE();
    }
}

/* The type that an operand of a kind must have, or NULL. */
static PyTypeObject *type_of_kind(char kind)
{
    switch (kind) {
    case 'N': return &PyUnicode_Type;
    case 'c': return &PyCell_Type;
    case 'm': return &PyDict_Type;
    case 'y': return &PyType_Type;
    case 'C': return &PyCode_Type;
    case 'T': return &PyTuple_Type;
    case 'o': return NULL;
    default: Py_UNREACHABLE();
    }
}

static int take_object(sv_instruction *instruction, const char *name, char kind, PyObject *item)
{
    PyTypeObject *type = type_of_kind(kind);
    if (type != NULL && !PyObject_TypeCheck(item, type)) {
        PyErr_Format(PyExc_TypeError, "guard program: %s: expected %s, not %s", name, type->tp_name, Py_TYPE(item)->tp_name);
        return -1;
    }
    PyObject **place = &instruction->objects[instruction->object_count++];
    *place = Py_NewRef(item);
    if (kind == 'N' && PyUnicode_CheckExact(item))
        PyUnicode_InternInPlace(place); /* so that dictionaries find it by address */
    return 0;
}

/* A tuple of registers to be read. */
static int take_given(const compiler *self, sv_instruction *instruction, const char *name, PyObject *numbers)
{
    if (!PyTuple_CheckExact(numbers))
        return malformed(name, "expected a tuple of registers");
    Py_ssize_t count = PyTuple_GET_SIZE(numbers);
    sv_given *given = PyMem_Calloc(1, sizeof *given + sizeof *given->registers * (size_t)count);
    if (given == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    instruction->call.given = given;
    given->count = (int)count;
    for (Py_ssize_t i = 0; i < count; i++) {
        Py_ssize_t value = PyNumber_AsSsize_t(PyTuple_GET_ITEM(numbers, i), PyExc_ValueError); /* Python may run here. */
        if ((value == -1 && PyErr_Occurred()) || take_register(self, name, 'S', value, &given->registers[i]) < 0)
            return -1;
    }
    return 0;
}

/* Two tuples of registers: those written, and all. */
static int take_overlap(const compiler *self, sv_disjoint_guard *guard, PyObject *written, PyObject *all)
{
    if (!PyTuple_Check(written) || !PyTuple_Check(all))
        return malformed("disjoint", "expected two tuples of registers");
    Py_ssize_t written_count = PyTuple_GET_SIZE(written), all_count = PyTuple_GET_SIZE(all);
    sv_overlap *overlap = PyMem_Calloc(1, sizeof *overlap + sizeof *overlap->registers * (size_t)(written_count + all_count));
    if (overlap == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    guard->overlap = overlap;
    for (Py_ssize_t i = 0; i < written_count + all_count; i++) {
        bool is_written = i < written_count;
        PyObject *item = is_written ? PyTuple_GET_ITEM(written, i) : PyTuple_GET_ITEM(all, i - written_count);
        Py_ssize_t value = PyNumber_AsSsize_t(item, PyExc_ValueError); /* Python may run here. */
        uint16_t number;
        if ((value == -1 && PyErr_Occurred()) || take_register(self, "disjoint", 'A', value, &number) < 0)
            return -1;
        bool seen = false;
        for (int k = 0; k < overlap->count; k++)
            seen |= overlap->registers[k].number == number;
        if (seen)
            continue;
        overlap->registers[overlap->count].number = number;
        overlap->registers[overlap->count++].written = is_written;
    }
    return 0;
}

/* --- instructions */

static int check_slots(const compiler *self, const char *name, Py_ssize_t offset, Py_ssize_t slots)
{
    if (offset % SV_SLOT != 0 || offset > self->block_size || slots * SV_SLOT > self->block_size - offset)
        return malformed(name, "the slots lie outside the argument block");
    return 0;
}

static int make_tensor(compiler *self, sv_instruction *instruction, const char *name, const decoded *from)
{
    sv_program *program = self->program;
    sv_tensor_guard *guard = &instruction->tensor;
    if (from->number > SV_MAX_NDIM)
        return malformed(name, "too many dimensions");
    if (self->state[from->source] >= TENSOR)
        return malformed(name, "a tensor guard covers the register already");
    int flag = 0;
#define TAKEN_t from->dtype
#define TAKEN_n (int)from->number
#define TAKEN_f from->flags[flag++]
#define TAKE_FACT(name, type, letter) facts.name = TAKEN_##letter;
    sv_tensor_facts facts;
    SV_TENSOR_FACTS(TAKE_FACT)
    bool written = from->flags[flag];
    self->state[from->source] = (uint8_t)(TENSOR + from->number);
    self->guards[from->source] = program->count - 1;
    program->view_of_register[from->source] = (uint16_t)program->view_count;
    guard->view = (uint16_t)program->view_count++;
    guard->signature = sv_signature(&facts, false);
    /* Only a written array has to be writable. */
    guard->mask = written ? ~0u : ~(uint32_t)SV_READONLY_BIT;
    return 0;
}

static int make_extent(const compiler *self, sv_instruction *instruction, const char *name, const decoded *from)
{
    Py_ssize_t axis = from->numbers[0];
    if (axis >= self->state[from->source] - TENSOR)
        return malformed(name, "no such axis");
    instruction->extent = (sv_extent_guard){from->numbers[1], self->program->view_of_register[from->source], (uint8_t)axis};
    return 0;
}

/* The layout of a field, or the order of dimensions of an array: a new reference. */
static PyObject *layout_or_order_from(PyObject *answer)
{
    bool in_order = PyTuple_CheckExact(answer);
    for (Py_ssize_t i = 0; in_order && i < PyTuple_GET_SIZE(answer); i++)
        in_order = PyLong_CheckExact(PyTuple_GET_ITEM(answer, i));
    return in_order ? sv_order_from(answer) : (PyObject *)sv_layout_from(answer);
}

/* The tensor guard of such an array compares it too; a second one is an instruction of its own. */
static int make_layout(compiler *self, sv_instruction *instruction, const decoded *from)
{
    sv_program *program = self->program;
    PyObject *layout = layout_or_order_from(instruction->expected);
    if (layout == NULL)
        return -1;
    Py_SETREF(instruction->expected, layout);
    sv_instruction *guard = &program->instructions[self->guards[from->source]];
    if (guard->object_count == 0) {
        guard->tensor.guarded_layout = instruction->expected;
        guard->object_count = 1;
        program->count--;
    }
    return 0;
}

static int make_array_fill(compiler *self, sv_instruction *instruction, const char *name, const decoded *from)
{
    sv_program *program = self->program;
    bool strided = from->flags[0];
    int ndim = self->state[from->source] - TENSOR;
    sv_tensor_guard *guard = &program->instructions[self->guards[from->source]].tensor;
    /* The parts of a complex number are a last dimension. */
    bool has_parts = sv_dtype_parts(sv_dtype_of((sv_dtype_code)(guard->signature & 0xff))) > 1;
    if (check_slots(self, name, from->number, sv_array_slots(ndim + has_parts, strided)) < 0)
        return -1;
    /* An array is filled in by its guard, as soon as that holds. */
    if (guard->fill == SV_NO_FILL) {
        guard->fill = strided ? SV_FILL_STRIDES : SV_FILL_SHAPE;
        guard->offset = from->number;
        program->count--;
        return 0;
    }
    instruction->array = (sv_array_fill){from->number, program->view_of_register[from->source], strided};
    return 0;
}

static int make_stable(compiler *self, const char *name, const decoded *from)
{
    sv_program *program = self->program;
    if (from->number >= program->parameter_count)
        return malformed(name, "no such parameter is loaded");
    if (from->flags[0])
        program->roots[program->root_count++] = (uint16_t)from->number;
    program->count--; /* a declaration, not an instruction */
    return 0;
}

/* A call that is not repeated is a constant. */
static void make_constant(sv_instruction *call)
{
    PyObject *result = call->call.result;
    Py_DECREF(call->call.names);
    Py_DECREF(call->call.text);
    PyMem_Free(call->call.given);
    memset(call->objects, 0, sizeof call->objects);
    call->call.given = NULL;
    call->operation = SV_LOAD_CONSTANT;
    call->object_count = 1;
    call->constant = result;
}

/* Whether a guard always holds: its constant has the expected value, or it accepts anything. */
static bool always_holds(const compiler *self, const sv_instruction *guard)
{
    switch ((sv_operation)guard->operation) {
    case SV_GUARD_IS:
    case SV_GUARD_VALUE:
        return self->constants[guard->source] == guard->expected;
    case SV_GUARD_CONTENTS: {
        PyObject *described = guard->expected; /* ("all", ()) */
        return PyTuple_CheckExact(described) && PyTuple_GET_SIZE(described) == 2 && PyTuple_CheckExact(PyTuple_GET_ITEM(described, 1)) &&
               PyTuple_GET_SIZE(PyTuple_GET_ITEM(described, 1)) == 0 && PyUnicode_Check(PyTuple_GET_ITEM(described, 0)) &&
               PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(described, 0), "all") == 0;
    }
    default: return false;
    }
}

/* Finish an instruction, once all operands are read. */
static int make(compiler *self, sv_instruction *instruction, const char *name, const decoded *from)
{
    sv_program *program = self->program;
    instruction->destination = from->destination;
    instruction->source = from->source;
    if (instruction->operation == SV_LOAD_CALL && !from->flags[0])
        make_constant(instruction);
    if (always_holds(self, instruction)) {
        Py_CLEAR(instruction->expected);
        instruction->object_count = 0;
        program->count--;
        return 0;
    }
    if (instruction->operation == SV_LOAD_CONSTANT)
        self->constants[instruction->destination] = instruction->constant;
    if (sv_is_load(instruction)) {
        self->state[from->destination] = ASSIGNED;
        if (sv_owns_register(instruction))
            program->owned[program->owned_count++] = from->destination;
    }
    switch ((sv_operation)instruction->operation) {
    case SV_LOAD_PARAMETER:
        if (from->number >= UINT16_MAX)
            return malformed(name, "no such parameter");
        if (from->number >= program->parameter_count)
            program->parameter_count = (int)from->number + 1;
        instruction->parameter = from->number;
        return 0;
    case SV_LOAD_INHERITED:
        instruction->inherited.class = from->second;
        return 0;
    case SV_LOAD_CALL: {
        PyObject *names = instruction->call.names;
        if (PyTuple_GET_SIZE(names) > instruction->call.given->count)
            return malformed(name, "there are more names than arguments");
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
            if (!PyUnicode_Check(PyTuple_GET_ITEM(names, i)))
                return malformed(name, "a name is not a str");
        return 0;
    }
    case SV_LOAD_FUNCTION:
        instruction->attribute.name = PyUnicode_InternFromString("__wrapped__");
        instruction->object_count = 1;
        return instruction->attribute.name == NULL ? -1 : 0;
    case SV_GUARD_LENGTH:
        instruction->length = from->number;
        return 0;
    case SV_GUARD_SAME_FUNCTION:
        return PyFunction_Check(instruction->same_function.function) ? 0 : malformed(name, "expected a function");
    case SV_STABLE:
        return make_stable(self, name, from);
    case SV_GUARD_TENSOR:
        return make_tensor(self, instruction, name, from);
    case SV_GUARD_EXTENT:
        return make_extent(self, instruction, name, from);
    case SV_GUARD_LAYOUT:
        return make_layout(self, instruction, from);
    case SV_GUARD_DISJOINT:
        instruction->disjoint.expected = from->flags[0];
        return 0;
    case SV_FILL_ARRAY:
        return make_array_fill(self, instruction, name, from);
    case SV_FILL_SCALAR:
        instruction->scalar.dtype = from->dtype;
        instruction->scalar.offset = from->number;
        return check_slots(self, name, from->number, 1);
    default:
        return 0;
    }
}

/* --- sources of operands */

static const char *const parts[] = {"object", "type", "code", "globals", "builtins"};
enum { PART_COUNT = sizeof parts / sizeof *parts };

int sv_part_number(PyObject *what)
{
    for (int part = 0; part < PART_COUNT; part++)
        if (PyUnicode_Check(what) && PyUnicode_CompareWithASCIIString(what, parts[part]) == 0)
            return part;
    return -1;
}

PyObject *sv_part_names(void)
{
    PyObject *result = PyTuple_New(PART_COUNT);
    for (int part = 0; result != NULL && part < PART_COUNT; part++) {
        PyObject *name = PyUnicode_FromString(parts[part]);
        if (name == NULL)
            Py_CLEAR(result);
        else
            PyTuple_SET_ITEM(result, part, name);
    }
    return result;
}

/* A part of the object with a number: a borrowed reference. */
static PyObject *part_of(const compiler *self, int part, Py_ssize_t number)
{
    if (self->objects == NULL || part >= PART_COUNT) {
        PyErr_SetString(PyExc_ValueError, "guard program: there are no objects");
        return NULL;
    }
    PyObject *object = PyList_GetItem(self->objects, number);
    if (object == NULL || part == 0)
        return object;
    if (part == 1)
        return (PyObject *)Py_TYPE(object);
    if (!PyFunction_Check(object)) {
        PyErr_Format(PyExc_TypeError, "guard program: expected a function to take the %s of, not a %s", parts[part], Py_TYPE(object)->tp_name);
        return NULL;
    }
    return part == 2 ? PyFunction_GET_CODE(object) : part == 3 ? PyFunction_GET_GLOBALS(object) : sv_function_builtins(object);
}

/* Resolve a tagged tuple (..., what, …), or return the operand itself: a new reference. */
static PyObject *resolved(const compiler *self, PyObject *item)
{
    if (!sv_is_mark(item))
        return Py_NewRef(item);
    int part = sv_part_number(PyTuple_GET_ITEM(item, 1));
    if (part >= 0 && self->objects != NULL && PyTuple_GET_SIZE(item) == 3) {
        Py_ssize_t number = PyNumber_AsSsize_t(PyTuple_GET_ITEM(item, 2), PyExc_IndexError); /* Python may run here. */
        return number == -1 && PyErr_Occurred() ? NULL : Py_XNewRef(part_of(self, part, number));
    }
    return self->resolve == NULL ? Py_NewRef(item) : PyObject_CallOneArg(self->resolve, item); /* Python may run here. */
}

/* The operands of an instruction: from a tuple, or from bytes. */
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
    /* Python may run here. */
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

static int take_operand(compiler *self, sv_instruction *instruction, const sv_format *format, char kind, operands *source,
                        decoded *into)
{
    if (sv_is_number(kind)) {
        Py_ssize_t number;
        return next_number(source, kind, &number) < 0 ? -1 : take_number(self, into, format->name, kind, number);
    }
    PyObject *item = next_item(self, source);
    if (item == NULL)
        return -1;
    int result;
    if (kind == 'R') {
        result = take_given(self, instruction, format->name, item);
    } else if (kind == 'f') {
        result = PyObject_IsTrue(item); /* Python may run here. */
        into->flags[into->flag_count++] = result > 0;
    } else {
        result = take_object(instruction, format->name, kind, item);
    }
    Py_DECREF(item);
    return result < 0 ? -1 : 0;
}

static int take_both(compiler *self, sv_instruction *instruction, operands *source)
{
    PyObject *written = next_item(self, source), *all = written == NULL ? NULL : next_item(self, source);
    int result = all == NULL ? -1 : take_overlap(self, &instruction->disjoint, written, all);
    Py_XDECREF(written);
    Py_XDECREF(all);
    return result;
}

static int compile_one(compiler *self, const sv_format *format, operands *source)
{
    sv_instruction *instruction = &self->program->instructions[self->program->count];
    memset(instruction, 0, sizeof *instruction);
    instruction->operation = (uint8_t)format->operation;
    self->program->count++; /* from here on, freeing the program frees the operands of the instruction */
    decoded into = {0};
    const char *kinds = format->kinds;
    if (format->operation == SV_GUARD_DISJOINT) {
        if (take_both(self, instruction, source) < 0)
            return -1;
        kinds += 2;
    }
    for (; *kinds != '\0'; kinds++)
        if (take_operand(self, instruction, format, *kinds, source, &into) < 0)
            return -1;
    return make(self, instruction, format->name, &into);
}

/* Loads and guards keep their order; fills that no guard does come last, in order. */
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

static int compile_tuples(compiler *self, PyObject *tuples)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuples); i++) {
        PyObject *tuple = PyTuple_GET_ITEM(tuples, i);
        const sv_format *format = sv_format_of(tuple);
        operands source = {.tuple = tuple, .next = 1};
        if (format == NULL || compile_one(self, format, &source) < 0)
            return -1;
    }
    return 0;
}

static int compile_bytes(compiler *self, sv_reader *bytes, Py_ssize_t count)
{
    operands source = {.bytes = bytes};
    for (Py_ssize_t i = 0; i < count; i++) {
        const sv_format *format = sv_next_format(bytes);
        if (format == NULL || compile_one(self, format, &source) < 0)
            return -1;
    }
    return bytes->at == bytes->end ? 0 : malformed("program", "trailing data");
}

int sv_program_compile(sv_program *program, PyObject *source, int registers, Py_ssize_t block_size, PyObject *objects,
                       PyObject *resolve)
{
    memset(program, 0, sizeof *program);
    if (registers < 0 || registers >= UINT16_MAX)
        return malformed("registers", "out of range");
    PyObject *tuples = NULL;
    sv_reader bytes;
    Py_ssize_t length;
    if (PyBytes_CheckExact(source)) {
        bytes.at = (const uint8_t *)PyBytes_AS_STRING(source);
        bytes.end = bytes.at + PyBytes_GET_SIZE(source);
        if (sv_next_number(&bytes, &length) < 0)
            return -1;
        if (length > bytes.end - bytes.at) /* each takes at least a byte */
            return malformed("program", "truncated");
    } else {
        tuples = PySequence_Tuple(source); /* cannot change while Python runs */
        if (tuples == NULL)
            return -1;
        length = PyTuple_GET_SIZE(tuples);
    }
    program->register_count = registers;
    size_t count = (size_t)length, room = (size_t)registers + 1;
    compiler self = {program, block_size, PyMem_Calloc(room, 1), PyMem_Calloc(room, sizeof(Py_ssize_t)),
                     PyMem_Calloc(room, sizeof(PyObject *)), objects, resolve};
    program->instructions = PyMem_Calloc(count + 1, sizeof(sv_instruction));
    program->owned = PyMem_Calloc(room, sizeof(uint16_t));
    program->view_of_register = PyMem_Calloc(room, sizeof(uint16_t));
    program->roots = PyMem_Calloc(count + 1, sizeof(uint16_t));
    program->block_size = block_size;
    int result = -1;
    if (self.state == NULL || self.guards == NULL || self.constants == NULL || program->instructions == NULL || program->owned == NULL || program->view_of_register == NULL ||
        program->roots == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    if ((tuples == NULL ? compile_bytes(&self, &bytes, length) : compile_tuples(&self, tuples)) < 0)
        goto done;
    result = move_fills(program);
    if (result == 0)
        sv_program_mark_stable(program);
done:
    PyMem_Free(self.state);
    PyMem_Free(self.guards);
    PyMem_Free(self.constants);
    Py_XDECREF(tuples);
    if (result < 0)
        sv_program_free(program);
    return result;
}

PyObject *sv_program_operands(const sv_program *program)
{
    PyObject *operands = PyList_New(0);
    int result = operands == NULL ? -1 : 0;
    for (Py_ssize_t i = 0; result == 0 && i < program->count; i++)
        for (int k = 0; result == 0 && k < program->instructions[i].object_count; k++)
            result = PyList_Append(operands, program->instructions[i].objects[k]);
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
    for (Py_ssize_t i = 0; i < program->count; i++)
        for (int k = 0; k < program->instructions[i].object_count; k++)
            Py_VISIT(program->instructions[i].objects[k]);
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
    program->parameter_count = INT_MAX; /* an empty program would accept everything, and no kernel has this many parameters */
    /* Python may run here: dropping the last reference to an object may run a finalizer that launches. */
    for (Py_ssize_t i = 0; i < old.count; i++) {
        for (int k = 0; k < old.instructions[i].object_count; k++)
            Py_XDECREF(old.instructions[i].objects[k]);
        if (old.instructions[i].operation == SV_GUARD_DISJOINT)
            PyMem_Free(old.instructions[i].disjoint.overlap);
        if (old.instructions[i].operation == SV_LOAD_TUPLE || old.instructions[i].operation == SV_LOAD_CALL)
            PyMem_Free(old.instructions[i].call.given);
    }
    PyMem_Free(old.instructions);
    PyMem_Free(old.owned);
    PyMem_Free(old.view_of_register);
    PyMem_Free(old.roots);
    for (int i = 0; i < SV_SNAPSHOTS; i++)
        sv_snapshot_release(old.snapshots[i]);
}
