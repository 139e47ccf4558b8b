/* The interpreter of guard programs: every path is read once into a register that keeps it alive; guards and fills use the
   register. */
#include "guards/guards.h"

unsigned sv_python_runs;

static int prepare(const sv_program *program, sv_registers *state)
{
    state->snapshot = NULL;
    state->has_borrowed_views = state->writes_foreign = false;
    state->fresh = false;
    state->registers = state->stack_registers;
    state->viewed = state->stack_viewed;
    state->views = program->view_count <= SV_STACK_VIEWS ? state->stack_views : NULL;
    if (program->register_count > SV_STACK_REGISTERS) {
        /* One block: the pointers, then a byte per view; there are no more views than registers. */
        size_t count = (size_t)program->register_count;
        state->registers = PyMem_Calloc(count, sizeof(PyObject *) + 1);
        if (state->registers == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        state->viewed = (uint8_t *)(state->registers + count);
        return 0;
    }
    memset(state->stack_registers, 0, sizeof(PyObject *) * (size_t)program->register_count);
    memset(state->stack_viewed, 0, (size_t)program->view_count);
    return 0;
}

static inline int guard_tensor(const sv_program *program, const sv_tensor_guard *guard, PyObject *object, sv_registers *state)
{
    if (!sv_array_check(object))
        return sv_guard_foreign(program, guard, object, state);
    const sv_array *array = (const sv_array *)object;
    if ((array->signature & guard->mask) != guard->signature || (guard->guarded_layout != NULL && guard->guarded_layout != array->guarded_layout))
        return 0;
    if (guard->fill != SV_NO_FILL)
        sv_fill_own(state->block + guard->offset, array, guard->fill == SV_FILL_STRIDES);
    return 1;
}

static void fill_array(const sv_array_fill *fill, PyObject *object, const sv_registers *state)
{
    if (sv_array_check(object))
        sv_fill_own(state->block + fill->offset, (sv_array *)object, fill->strided);
    else
        sv_fill_foreign(state->block + fill->offset, &state->views[fill->view], fill->strided);
}

/* The opposite of a lookup: 1 if the name is absent. */
static int nothing(int found)
{
    return found < 0 ? -1 : !found;
}

static int is_absent(PyObject *source, PyObject *name)
{
    PyObject *found;
    sv_python_may_run();
    int result = nothing(sv_optional_attribute(source, name, &found)); /* Python may run here. */
    Py_XDECREF(found);
    return result;
}

/* Names are looked up again when their dict has changed. Its version is read first: Python code that runs in a lookup and
   changes the dict leaves a version that will never recur. */

static int load_global(sv_instruction *load, PyObject **result)
{
    uint64_t version = sv_dict_version(load->global.names);
    if (load->global.version == version) {
        *result = Py_NewRef(load->global.found);
        return 1;
    }
    int holds = sv_load_name(load->global.names, load->global.name, result); /* Python may run here. */
    if (holds == 1) {
        load->global.version = version;
        load->global.found = *result;
    }
    return holds;
}

static int guard_absent_global(sv_instruction *guard)
{
    uint64_t version = sv_dict_version(guard->global.names);
    if (guard->global.version == version)
        return 1;
    int holds = nothing(PyDict_Contains(guard->global.names, guard->global.name)); /* Python may run here. */
    if (holds == 1)
        guard->global.version = version;
    return holds;
}

static int load_builtin(sv_instruction *load, PyObject **result)
{
    uint64_t hiding = sv_dict_version(load->builtin.globals), version = sv_dict_version(load->builtin.builtins);
    if (load->builtin.hiding_version == hiding && load->builtin.version == version) {
        *result = Py_NewRef(load->builtin.found);
        return 1;
    }
    int holds = nothing(PyDict_Contains(load->builtin.globals, load->builtin.name)); /* Python may run here. */
    if (holds == 1)
        holds = sv_load_name(load->builtin.builtins, load->builtin.name, result); /* Python may run here. */
    if (holds == 1) {
        load->builtin.hiding_version = hiding;
        load->builtin.version = version;
        load->builtin.found = *result;
    }
    return holds;
}

/* The function under a func, or a plain function itself. */
static int load_function(sv_attribute_load *load, PyObject *source, PyObject **result)
{
    if (PyFunction_Check(source)) {
        *result = Py_NewRef(source);
        return 1;
    }
    int found = sv_load_attribute(load, source, result);
    return found == 1 ? PyFunction_Check(*result) : found;
}

/* One instruction. 1: continue; 0: a miss; -1: an exception. */
static inline __attribute__((always_inline)) int step(const sv_program *program, sv_instruction *instruction,
                                                      PyObject *const *arguments, sv_registers *state)
{
    PyObject **registers = state->registers;
    PyObject **destination = &registers[instruction->destination];
    PyObject *source = registers[instruction->source];
    switch ((sv_operation)instruction->operation) {
    case SV_LOAD_PARAMETER:
        *destination = arguments[instruction->parameter];
        return 1;
    case SV_LOAD_CONSTANT:
        *destination = instruction->constant;
        return 1;
    case SV_LOAD_CELL:
        *destination = PyCell_Get(instruction->cell);
        return *destination != NULL;
    case SV_LOAD_GLOBAL:
        return load_global(instruction, destination);
    case SV_LOAD_BUILTIN:
        return load_builtin(instruction, destination);
    case SV_LOAD_ATTRIBUTE:
        return sv_load_attribute(&instruction->attribute, source, destination);
    case SV_LOAD_INHERITED:
        return sv_load_inherited(source, registers[instruction->inherited.class], instruction->inherited.name, destination);
    case SV_LOAD_ITEM:
        return sv_load_item(source, instruction->key, destination);
    case SV_LOAD_TUPLE:
        return sv_load_tuple(instruction, state, destination);
    case SV_LOAD_CALL:
        return sv_load_call(instruction, state, destination);
    case SV_LOAD_FUNCTION:
        return load_function(&instruction->attribute, source, destination);
    case SV_GUARD_IS:
        return source == instruction->expected;
    case SV_GUARD_TYPE:
        return (PyObject *)Py_TYPE(source) == instruction->expected;
    case SV_GUARD_VALUE:
        return sv_same_value(source, instruction->expected);
    case SV_GUARD_METHOD:
        return sv_binds_func(source, instruction->method.name, instruction->method.func);
    case SV_GUARD_ABSENT_ATTRIBUTE:
        return is_absent(source, instruction->absent_attribute.name);
    case SV_GUARD_ABSENT_GLOBAL:
        return guard_absent_global(instruction);
    case SV_GUARD_LENGTH:
        return sv_same_length(source, instruction->length);
    case SV_GUARD_KEYS:
        return sv_same_keys(source, instruction->expected);
    case SV_GUARD_SAME_FUNCTION: /* its code can be replaced */
        return source == instruction->same_function.function && PyFunction_GET_CODE(source) == instruction->same_function.code;
    case SV_GUARD_CONTENTS:
        return sv_same_contents(source, instruction->expected);
    case SV_GUARD_TENSOR:
        return guard_tensor(program, &instruction->tensor, source, state);
    case SV_GUARD_DISJOINT:
        return sv_guard_disjoint(program, &instruction->disjoint, state);
    case SV_FILL_ARRAY:
        fill_array(&instruction->array, source, state);
        return 1;
    case SV_FILL_SCALAR:
        return sv_fill_scalar(&instruction->scalar, source, state->block);
    case SV_GUARD_EXTENT:
        return sv_guard_extent(&instruction->extent, source, state);
    case SV_GUARD_LAYOUT:
        return sv_array_check(source) && ((sv_array *)source)->guarded_layout == instruction->expected;
    case SV_STABLE: /* no program has one */
    default:
        Py_UNREACHABLE();
    }
}

/* Run what a snapshot does not cover. */
static int run_rest(sv_program *program, sv_snapshot *snapshot, PyObject *const *arguments, sv_registers *state)
{
    memcpy(state->registers, snapshot->registers, sizeof *state->registers * (size_t)program->register_count);
    memcpy(state->block, snapshot->block, (size_t)program->block_size);
    int named = sv_names_hold(&snapshot->names);
    if (named != 1)
        return named;
    for (int i = 0; i < snapshot->todo_count; i++) {
        int holds = step(program, &program->instructions[snapshot->todo[i]], arguments, state);
        if (holds != 1)
            return holds;
    }
    return 1;
}

static int run_all(sv_program *program, PyObject *const *arguments, sv_registers *state)
{
    sv_instruction *instruction = program->instructions, *end = instruction + program->count;
    for (; instruction < end; instruction++) {
        int holds = step(program, instruction, arguments, state);
        if (holds != 1)
            return holds;
    }
    if (program->root_count > 0)
        sv_snapshot_take(program, arguments, state);
    return 1;
}

int sv_program_run(sv_program *program, PyObject *const *arguments, sv_registers *state, uint8_t *block, bool fresh)
{
    if (prepare(program, state) < 0)
        return -1;
    state->block = block;
    state->fresh = fresh;
    unsigned runs = sv_python_runs;
    if (program->root_count > 0)
        state->snapshot = sv_snapshot_find(program, arguments);
    int holds = state->snapshot != NULL ? run_rest(program, state->snapshot, arguments, state) : run_all(program, arguments, state);
    if (holds == 1 && state->has_borrowed_views && sv_python_runs != runs)
        return sv_views_still_hold(program, state);
    return holds;
}

int sv_program_run_rest(sv_program *program, sv_snapshot *snapshot, PyObject *const *arguments, sv_registers *state, uint8_t *block)
{
    if (prepare(program, state) < 0)
        return -1;
    state->block = block;
    unsigned runs = sv_python_runs;
    snapshot->references++;
    state->snapshot = snapshot;
    int holds = run_rest(program, snapshot, arguments, state);
    if (holds == 1 && state->has_borrowed_views && sv_python_runs != runs)
        return sv_views_still_hold(program, state);
    return holds;
}

int sv_program_run_in_place(sv_program *program, sv_snapshot *snapshot, PyObject *const *arguments)
{
    sv_registers state;
    int named = sv_names_hold(&snapshot->names);
    if (named != 1)
        return named;
    state.registers = snapshot->registers;
    state.block = snapshot->block;
    state.fresh = false;
    for (int i = 0; i < snapshot->todo_count; i++) {
        int holds = step(program, &program->instructions[snapshot->todo[i]], arguments, &state);
        if (holds != 1)
            return holds;
    }
    return 1;
}

void sv_snapshot_leave(sv_snapshot *snapshot)
{
    for (int i = 0; i < snapshot->owned_count; i++)
        Py_CLEAR(snapshot->registers[snapshot->owned[i]]);
}

void sv_registers_release(const sv_program *program, sv_registers *state)
{
    if (state->registers == NULL)
        return;
    for (int i = 0; i < program->view_count; i++)
        if (state->viewed[i] == SV_HOLDING_VIEW)
            sv_tensor_view_release(&state->views[i]);
    const sv_snapshot *snapshot = state->snapshot;
    const uint16_t *owned = snapshot == NULL ? program->owned : snapshot->owned;
    int owned_count = snapshot == NULL ? program->owned_count : snapshot->owned_count;
    for (int i = 0; i < owned_count; i++)
        Py_XDECREF(state->registers[owned[i]]);
    if (state->views != state->stack_views)
        PyMem_Free(state->views);
    if (state->registers != state->stack_registers)
        PyMem_Free(state->registers);
    sv_snapshot_release(state->snapshot);
}
