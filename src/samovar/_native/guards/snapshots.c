/* Snapshots: what a launch found below arguments whose class has stable members, which are never rebound. The next launch
   with the same arguments skips those loads and guards, and starts from a copy of the argument block.

   A snapshot references the arguments and everything read below them, so no address is reused. Foreign arrays are checked
   each time: their memory may move without a member being rebound. Views are expected to be replaced: each is read again,
   with everything on the path to it. After a graph has yielded, members may be rebound to larger arrays: all snapshots
   expire. */
#include "guards/guards.h"

static unsigned expired;

void sv_snapshots_expire(void)
{
    expired++;
}

/* Mark the instructions that depend only on stable arguments (`fixed`, by parameter). Those that merely load such an
   argument are not marked: they cost nothing, and mark where the snapshot begins. A constant is not stable: it may be the
   result of a plain call, and change. False without memory. */
static bool mark(const sv_program *program, const bool *fixed, bool *marks)
{
    bool *stable = PyMem_Calloc((size_t)program->register_count + 1, sizeof *stable);
    if (stable == NULL)
        return false;
    for (Py_ssize_t i = 0; i < program->count; i++) {
        const sv_instruction *one = &program->instructions[i];
        marks[i] = false;
        switch ((sv_operation)one->operation) {
        case SV_LOAD_PARAMETER:
            stable[one->destination] |= fixed[one->parameter];
            continue;
        case SV_LOAD_INHERITED:
            marks[i] = stable[one->destination] = stable[one->source] && stable[one->inherited.class];
            continue;
        case SV_LOAD_ATTRIBUTE:
        case SV_LOAD_ITEM:
        case SV_LOAD_FUNCTION:
            marks[i] = stable[one->destination] = stable[one->source];
            continue;
        case SV_LOAD_CONSTANT:
        case SV_LOAD_TUPLE:
        case SV_LOAD_CALL:
        case SV_LOAD_CELL:
        case SV_LOAD_GLOBAL:
        case SV_LOAD_BUILTIN:
        case SV_GUARD_ABSENT_GLOBAL:
            continue;
        case SV_GUARD_DISJOINT:
            marks[i] = true;
            for (int k = 0; k < one->disjoint.overlap->count; k++)
                marks[i] &= stable[one->disjoint.overlap->registers[k].number];
            continue;
        default:
            marks[i] = stable[one->source];
        }
    }
    PyMem_Free(stable);
    return true;
}

/* By parameter: whether it is one of the program's stable roots. NULL without memory. */
static bool *roots_of(const sv_program *program)
{
    bool *fixed = PyMem_Calloc((size_t)program->parameter_count + 1, sizeof *fixed);
    for (int root = 0; fixed != NULL && root < program->root_count; root++)
        if (program->roots[root] < program->parameter_count)
            fixed[program->roots[root]] = true;
    return fixed;
}

void sv_program_mark_stable(sv_program *program)
{
    if (program->root_count == 0)
        return;
    bool *fixed = roots_of(program), *marks = PyMem_Calloc((size_t)program->count + 1, sizeof *marks);
    if (fixed == NULL || marks == NULL || !mark(program, fixed, marks))
        program->root_count = 0; /* nothing is skipped then */
    for (Py_ssize_t i = 0; program->root_count > 0 && i < program->count; i++)
        program->instructions[i].stable = marks[i];
    PyMem_Free(fixed);
    PyMem_Free(marks);
}

/* Whether a load reads something below the object in another register. */
static bool reads_below(const sv_instruction *load)
{
    switch ((sv_operation)load->operation) {
    case SV_LOAD_ATTRIBUTE:
    case SV_LOAD_INHERITED:
    case SV_LOAD_ITEM:
    case SV_LOAD_FUNCTION:
        return true;
    default:
        return false;
    }
}

/* By register: whether it holds a view, something on the path to one, or something below one. All of that is read and
   checked again. Results of the launch itself are as stable as before. NULL without memory. */
static bool *read_again(const sv_program *program, const sv_registers *state)
{
    bool *again = PyMem_Calloc((size_t)program->register_count + 1, sizeof *again);
    if (again == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < program->count; i++) {
        const sv_instruction *one = &program->instructions[i];
        if (reads_below(one)) {
            const PyObject *found = state->registers[one->destination];
            again[one->destination] = again[one->source] || (found != NULL && Py_IS_TYPE(found, &sv_view_type));
        }
    }
    for (Py_ssize_t i = program->count - 1; i >= 0; i--) {
        const sv_instruction *one = &program->instructions[i];
        if (reads_below(one))
            again[one->source] |= again[one->destination];
    }
    for (Py_ssize_t i = 0; i < program->count; i++)
        if (sv_is_load(&program->instructions[i]) && !reads_below(&program->instructions[i]))
            again[program->instructions[i].destination] = false;
    return again;
}

/* Whether an instruction concerns something that is read again. */
static bool is_read_again(const sv_instruction *one, const bool *again)
{
    if (one->operation == SV_GUARD_DISJOINT) {
        for (int i = 0; i < one->disjoint.overlap->count; i++)
            if (again[one->disjoint.overlap->registers[i].number])
                return true;
        return false;
    }
    return again[sv_is_load(one) ? one->destination : one->source];
}

static bool is_skipped(const sv_instruction *instruction, bool stable, PyObject *const *registers)
{
    if (!stable)
        return false;
    switch ((sv_operation)instruction->operation) {
    case SV_GUARD_TENSOR:
    case SV_GUARD_EXTENT:
    case SV_FILL_ARRAY:
        return sv_array_check(registers[instruction->source]);
    case SV_GUARD_DISJOINT: {
        const sv_overlap *overlap = instruction->disjoint.overlap;
        for (int i = 0; i < overlap->count; i++)
            if (!sv_array_check(registers[overlap->registers[i].number]))
                return false;
        return true;
    }
    default:
        return true;
    }
}

/* Take a snapshot if there is memory; otherwise the next launch reads everything again. `marks` are the stable instructions,
   NULL for those of the program. */
static sv_snapshot *make(const sv_program *program, const bool *marks, PyObject *const *arguments, const sv_registers *state)
{
    size_t registers = (size_t)program->register_count + 1;
    sv_snapshot *made = PyMem_Calloc(1, sizeof *made);
    if (made == NULL)
        return NULL;
    made->references = 1;
    made->age = expired;
    made->root_count = program->root_count;
    made->register_count = program->register_count;
    made->roots = PyMem_Calloc((size_t)program->root_count, sizeof *made->roots);
    made->registers = PyMem_Calloc(registers, sizeof *made->registers);
    made->owned = PyMem_Calloc(registers, sizeof *made->owned);
    made->todo = PyMem_Calloc((size_t)program->count + 1, sizeof *made->todo);
    made->block = PyMem_Malloc((size_t)program->block_size + 1);
    bool *again = read_again(program, state), *named = PyMem_Calloc((size_t)program->count + 1, sizeof *named);
    if (named == NULL || sv_names_collect(program, state, &made->names, named) < 0 || made->roots == NULL || made->registers == NULL || made->owned == NULL || made->todo == NULL || made->block == NULL ||
        again == NULL) {
        PyMem_Free(again);
        PyMem_Free(named);
        sv_snapshot_release(made);
        return NULL;
    }
    memcpy(made->block, state->block, (size_t)program->block_size);
    for (int i = 0; i < program->root_count; i++)
        made->roots[i] = Py_NewRef(arguments[program->roots[i]]);
    for (Py_ssize_t i = 0; i < program->count; i++) {
        const sv_instruction *one = &program->instructions[i];
        /* A recorded call has the same arguments each time. */
        bool same = marks != NULL && (one->operation == SV_LOAD_PARAMETER || one->operation == SV_LOAD_CONSTANT);
        bool stable = (marks == NULL ? one->stable : marks[i]) && !is_read_again(one, again);
        if (same || named[i] || is_skipped(one, stable, state->registers)) {
            if (sv_is_load(one))
                made->registers[one->destination] = Py_XNewRef(state->registers[one->destination]);
            continue;
        }
        made->todo[made->todo_count++] = (uint32_t)i;
        if (sv_is_load(one) && sv_owns_register(one))
            made->owned[made->owned_count++] = one->destination;
    }
    PyMem_Free(again);
    PyMem_Free(named);
    return made;
}

sv_snapshot *sv_snapshot_find(sv_program *program, PyObject *const *arguments)
{
    for (int i = 0; i < SV_SNAPSHOTS && program->snapshots[i] != NULL; i++) {
        sv_snapshot *here = program->snapshots[i];
        bool same = here->age == expired;
        for (int root = 0; root < here->root_count; root++)
            same &= here->roots[root] == arguments[program->roots[root]];
        if (same) {
            here->references++;
            return here;
        }
    }
    return NULL;
}

void sv_snapshot_take(sv_program *program, PyObject *const *arguments, const sv_registers *state)
{
    sv_snapshot *made = make(program, NULL, arguments, state);
    if (made == NULL)
        return;
    sv_snapshot *oldest = program->snapshots[SV_SNAPSHOTS - 1];
    memmove(program->snapshots + 1, program->snapshots, sizeof *program->snapshots * (SV_SNAPSHOTS - 1));
    program->snapshots[0] = made;
    sv_snapshot_release(oldest); /* last: Python may run here. */
}

/* Whether an object never changes: one of our arrays, or a number. */
static bool is_fixed(PyObject *object)
{
    return sv_array_check(object) || PyLong_CheckExact(object) || PyFloat_CheckExact(object) || PyBool_Check(object);
}

static bool is_in_place(const sv_program *program, const sv_snapshot *snapshot)
{
    for (int i = 0; i < snapshot->todo_count; i++)
        switch ((sv_operation)program->instructions[snapshot->todo[i]].operation) {
        case SV_GUARD_TENSOR:
        case SV_GUARD_EXTENT:
        case SV_GUARD_DISJOINT:
        case SV_FILL_ARRAY:
            return false;
        default:
            break;
        }
    return true;
}

sv_snapshot *sv_snapshot_record(const sv_program *program, PyObject *const *arguments, const sv_registers *state)
{
    bool *fixed = roots_of(program), *marks = PyMem_Calloc((size_t)program->count + 1, sizeof *marks);
    for (int i = 0; fixed != NULL && i < program->parameter_count; i++)
        fixed[i] |= is_fixed(arguments[i]);
    sv_snapshot *made = NULL;
    if (fixed != NULL && marks != NULL && mark(program, fixed, marks))
        made = make(program, marks, arguments, state);
    if (made != NULL)
        made->in_place = is_in_place(program, made);
    PyMem_Free(fixed);
    PyMem_Free(marks);
    if (made == NULL)
        PyErr_NoMemory();
    return made;
}

bool sv_snapshot_is_current(const sv_snapshot *snapshot)
{
    return snapshot->age == expired;
}

void sv_snapshot_release(sv_snapshot *snapshot)
{
    if (snapshot == NULL || --snapshot->references > 0)
        return;
    for (int i = 0; snapshot->roots != NULL && i < snapshot->root_count; i++)
        Py_XDECREF(snapshot->roots[i]);
    for (int i = 0; snapshot->registers != NULL && i < snapshot->register_count; i++)
        Py_XDECREF(snapshot->registers[i]);
    PyMem_Free(snapshot->roots);
    PyMem_Free(snapshot->registers);
    PyMem_Free(snapshot->owned);
    PyMem_Free(snapshot->todo);
    PyMem_Free(snapshot->block);
    sv_names_release(&snapshot->names);
    PyMem_Free(snapshot);
}

int sv_snapshot_traverse(const sv_snapshot *snapshot, visitproc visit, void *arg)
{
    for (int i = 0; i < snapshot->root_count; i++)
        Py_VISIT(snapshot->roots[i]);
    for (int i = 0; i < snapshot->register_count; i++)
        Py_VISIT(snapshot->registers[i]);
    return sv_names_traverse(&snapshot->names, visit, arg);
}
