/* The launch path: bind the arguments, find the specialization whose guards hold, run it, build the results. This code runs
   at every kernel call; nothing here allocates unless a kernel is unusually large. */
#include "profile/profile.h"
#include "threads/stack.h"

enum { STACK_ARGUMENTS = 32, STACK_BLOCK = 4096, ATTEMPTS = 4 };
static const float RELEASE_NANOSECONDS = 50e3f;

/* --- binding */

static int bind_error(sv_kernel *kernel, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    PyObject *what = PyUnicode_FromFormatV(format, arguments);
    va_end(arguments);
    PyObject *name = NULL;
    int named = what == NULL ? -1 : sv_kernel_name(kernel, &name);
    if (named == 1)
        sv_refuse("SamovarCallError", "%U() %U", name, what);
    else if (named == 0)
        sv_refuse("SamovarCallError", "the kernel %U", what);
    Py_XDECREF(name);
    Py_XDECREF(what);
    return -1;
}

/* The position of a keyword, or -1. Names in source code are interned, so addresses nearly always decide; callers mostly
   follow the order of the parameters, so the search starts at the next expected one. */
static Py_ssize_t find_parameter(sv_kernel *kernel, PyObject *keyword, Py_ssize_t expected)
{
    Py_ssize_t count = PyTuple_GET_SIZE(kernel->parameters);
    if (expected < count && PyTuple_GET_ITEM(kernel->parameters, expected) == keyword)
        return expected;
    for (Py_ssize_t i = 0; i < count; i++)
        if (PyTuple_GET_ITEM(kernel->parameters, i) == keyword)
            return i;
    for (Py_ssize_t i = 0; i < count; i++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(kernel->parameters, i), keyword) == 0)
            return i;
    return -1;
}

static int unexpected_error(sv_kernel *kernel, PyObject *keyword)
{
    PyObject *comma = PyUnicode_FromString(", ");
    PyObject *names = comma == NULL ? NULL : PyUnicode_Join(comma, kernel->parameters);
    if (names != NULL)
        bind_error(kernel, "got an unexpected keyword argument %R; its parameters are %U", keyword, names);
    Py_XDECREF(names);
    Py_XDECREF(comma);
    return -1;
}

static int missing_error(sv_kernel *kernel, PyObject *const *bound)
{
    PyObject *names = PyUnicode_FromString("");
    Py_ssize_t count = PyTuple_GET_SIZE(kernel->parameters), missing = 0;
    for (Py_ssize_t i = 0; names != NULL && i < count; i++)
        if (bound[i] == NULL) {
            PyObject *longer = PyUnicode_FromFormat("%U%s%R", names, missing++ ? ", " : "", PyTuple_GET_ITEM(kernel->parameters, i));
            Py_SETREF(names, longer);
        }
    if (names != NULL)
        bind_error(kernel, "missing %zd required argument%s: %U", missing, missing == 1 ? "" : "s", names);
    Py_XDECREF(names);
    return -1;
}

/* Whether a kernel is defined in a class but its first parameter is not `self`. */
static bool lacks_self(sv_kernel *kernel)
{
    if (PyTuple_GET_SIZE(kernel->parameters) > 0 &&
        PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kernel->parameters, 0), "self") == 0)
        return false;
    PyObject *name = PyObject_GetAttrString((PyObject *)kernel, "__qualname__"); /* Python may run here. */
    const char *text = name == NULL ? NULL : PyUnicode_AsUTF8(name), *dot = text == NULL ? NULL : strrchr(text, '.');
    bool is_method = dot != NULL && (dot - text < 8 || strncmp(dot - 8, "<locals>", 8) != 0);
    PyErr_Clear();
    Py_XDECREF(name);
    return is_method;
}

/* Fill `bound` with borrowed references: the caller and the kernel keep them alive. */
static int bind(sv_kernel *kernel, PyObject *const *args, Py_ssize_t positional, PyObject *keywords, PyObject **bound)
{
    Py_ssize_t count = PyTuple_GET_SIZE(kernel->parameters);
    Py_ssize_t places = count - kernel->keyword_only;
    if (positional > places)
        return bind_error(kernel, "takes %zd %sargument%s but %zd were given%s", places, places < count ? "positional " : "",
                          places == 1 ? "" : "s", positional,
                          lacks_self(kernel) ? "\n  help: the first parameter of a method is `self`" : "");
    memcpy(bound, args, sizeof *bound * (size_t)positional);
    memset(bound + positional, 0, sizeof *bound * (size_t)(count - positional));
    Py_ssize_t keyword_count = keywords == NULL ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < keyword_count; i++) {
        PyObject *keyword = PyTuple_GET_ITEM(keywords, i);
        Py_ssize_t place = find_parameter(kernel, keyword, positional + i);
        /* A launch may name a stream: all launches are in order. */
        if (place < 0 && PyUnicode_CompareWithASCIIString(keyword, "qd_stream") == 0)
            continue;
        if (place < 0)
            return unexpected_error(kernel, keyword);
        if (place < kernel->positional_only)
            return bind_error(kernel, "takes the argument %R by position only", keyword);
        if (bound[place] != NULL)
            return bind_error(kernel, "got multiple values for argument %R", keyword);
        bound[place] = args[positional + i];
    }
    bool missing = false;
    for (Py_ssize_t i = positional; i < count; i++)
        if (bound[i] == NULL) {
            bound[i] = kernel->defaults[i];
            missing |= bound[i] == NULL;
        }
    return missing ? missing_error(kernel, bound) : 0;
}

/* --- running */

/* Code with loops of unknown length outside tasks: release the GIL, unless it is known to be fast. */
static void call_slow_entry(sv_specialization *specialization, sv_context *context, uint8_t *block)
{
    float known = atomic_load_explicit(&specialization->entry_nanoseconds, memory_order_relaxed);
    if (known < 0 || known > RELEASE_NANOSECONDS)
        sv_context_release_gil(context);
    int64_t start = sv_now();
    specialization->image->entry(context, block);
    float measured = (float)(sv_now() - start);
    atomic_store_explicit(&specialization->entry_nanoseconds, measured, memory_order_relaxed);
}

/* Store the checkpoint to start at in the block. -1 with an exception for an unknown label. */
static __attribute__((noinline, cold)) int begin_at(const sv_specialization *specialization, uint8_t *block, PyObject *label)
{
    Py_ssize_t count = specialization->labels == NULL ? 0 : PyTuple_GET_SIZE(specialization->labels);
    for (Py_ssize_t i = 0; i < count && specialization->resume >= 0; i++) {
        int same = PyObject_RichCompareBool(PyTuple_GET_ITEM(specialization->labels, i), label, Py_EQ); /* Python may run here. */
        if (same < 0)
            return -1;
        if (same) {
            int32_t number = (int32_t)i + 1;
            memcpy(block + specialization->resume, &number, sizeof number);
            return 0;
        }
    }
    PyObject *refused = PyObject_CallMethod(specialization->keep, "refuse_label", "O", label);
    if (refused != NULL) {
        Py_DECREF(refused);
        PyErr_SetString(PyExc_LookupError, "the kernel has no such checkpoint");
    }
    return -1;
}

/* What a graph with checkpoints returns. Its caller may rebind members after a yield, even stable ones. */
static __attribute__((noinline)) PyObject *status_of(const sv_specialization *specialization, const uint8_t *block)
{
    int32_t number;
    memcpy(&number, block + specialization->result.offset, sizeof number);
    if (number < 0 || number >= PyTuple_GET_SIZE(specialization->statuses)) {
        PyErr_SetString(PyExc_RuntimeError, "a kernel ended at an unknown checkpoint");
        return NULL;
    }
    if (number > 0)
        sv_snapshots_expire();
    return Py_NewRef(PyTuple_GET_ITEM(specialization->statuses, number));
}

static inline __attribute__((always_inline)) PyObject *launch(sv_specialization *specialization, uint8_t *block, PyObject *label)
{
    if (label != NULL && begin_at(specialization, block, label) < 0)
        return NULL;
    sv_context context;
    sv_context_open(&context, specialization);
    if (specialization->slow_serial)
        call_slow_entry(specialization, &context, block);
    else
        specialization->image->entry(&context, block);
    if (context.released != NULL)
        sv_context_take_gil(&context);
    if (sv_context_close(&context) < 0)
        return NULL;
    const sv_result *result = &specialization->result;
    if (result->kind == SV_NO_RESULT)
        Py_RETURN_NONE;
    if (result->kind == SV_SCALAR_RESULT)
        return sv_dtype_load(result->dtype, block + result->offset);
    if (result->kind == SV_STATUS_RESULT)
        return status_of(specialization, block);
    return sv_results_build(specialization->results, block);
}

enum { MISS, DONE };

/* Whether the local arrays of a kernel fit on the stack of this thread; otherwise an exception is set. */
static inline bool has_room(const sv_specialization *specialization)
{
    if (__builtin_expect(specialization->stack == 0, 1))
        return true;
    uintptr_t left = sv_stack_left();
    if (left >= (uintptr_t)specialization->stack)
        return true;
    PyErr_Format(PyExc_MemoryError,
                 "the local arrays of this kernel take %zd bytes, but the stack of this thread has only %zu left\n"
                 "  help: launch it from a thread with a larger stack, threading.stack_size(8 << 20), or pass arrays for "
                 "them",
                 specialization->stack, (size_t)left);
    return false;
}

/* Python may run here: dropping the last reference to an object or releasing a buffer. A pending exception is preserved. */
static void release(const sv_program *program, sv_registers *registers, bool raised)
{
    if (!raised) {
        sv_registers_release(program, registers);
        return;
    }
    PyObject *type, *value, *traceback;
    PyErr_Fetch(&type, &value, &traceback);
    sv_registers_release(program, registers);
    PyErr_Restore(type, value, traceback);
}

/* A profile records the time that guards, code and results take. */
static PyObject *launch_profiled(sv_kernel *kernel, sv_specialization *specialization, uint8_t *block, PyObject *label, int64_t begin)
{
    int64_t now = sv_now();
    if (sv_profile_expect(kernel, specialization) < 0) /* Python may run here. */
        return NULL;
    begin += sv_now() - now;
    PyObject *result = launch(specialization, block, label);
    sv_profile_launched(specialization, begin);
    return result;
}

/* DONE: *result is the outcome, NULL with an exception. MISS: the guards do not hold. A label that is not NULL is where to
   start. There are two instances, for profiled launches and for all others: the latter do no checks. */
static inline __attribute__((always_inline)) int try_specialization_as(sv_kernel *kernel, sv_specialization *specialization,
                                                                       PyObject *const *bound, PyObject *label, bool profiled,
                                                                       bool fresh, PyObject **result)
{
    int64_t begin = profiled ? sv_now() : 0;
    sv_program *program = &specialization->program;
    if (program->parameter_count > PyTuple_GET_SIZE(kernel->parameters))
        return MISS;
    _Alignas(64) uint8_t stack_block[STACK_BLOCK];
    uint8_t *block = stack_block;
    size_t size = (size_t)specialization->block_size;
    if (size > STACK_BLOCK && (block = PyMem_Malloc(size)) == NULL) {
        *result = PyErr_NoMemory();
        return DONE;
    }
    memset(block, 0, size);
    sv_registers registers;
    int outcome = DONE;
    *result = NULL;
    int holds = sv_program_run(program, bound, &registers, block, fresh);
    if (holds == 1 && has_room(specialization))
        *result = profiled ? launch_profiled(kernel, specialization, block, label, begin) : launch(specialization, block, label);
    else if (holds == 0)
        outcome = MISS;
    if ((__builtin_expect(registers.writes_foreign, 0) || sv_has_hook(SV_HOOK_TAPE)) && holds == 1)
        sv_versions_increment(program, &registers); /* Python may run here. */
    release(program, &registers, outcome == DONE && *result == NULL);
    if (block != stack_block)
        PyMem_Free(block);
    return outcome;
}

static int try_specialization(sv_kernel *kernel, sv_specialization *specialization, PyObject *const *bound, PyObject *label,
                              PyObject **result)
{
    return try_specialization_as(kernel, specialization, bound, label, false, false, result);
}

static __attribute__((noinline, cold)) int try_profiled(sv_kernel *kernel, sv_specialization *specialization, PyObject *const *bound,
                                                       PyObject *label, PyObject **result)
{
    return try_specialization_as(kernel, specialization, bound, label, true, false, result);
}

/* One created for this launch. */
static __attribute__((noinline, cold)) int try_fresh(sv_kernel *kernel, sv_specialization *specialization, PyObject *const *bound,
                                                     PyObject *label, PyObject **result)
{
    return try_specialization_as(kernel, specialization, bound, label, sv_has_hook(SV_HOOK_PROFILE), true, result);
}

/* Guards run Python code: properties may launch this kernel, clear it, or drop it. The current specialization is kept alive,
   and the list is read again after each miss. */
static inline __attribute__((always_inline)) PyObject *dispatch(sv_kernel *kernel, PyObject *const *bound, PyObject *label, bool profiled)
{
    PyObject *result;
    for (int i = 0, count = kernel->count; i < count && i < kernel->count; i++) { /* not those that launches in guards add */
        sv_specialization *specialization = kernel->specializations[i];
        Py_INCREF(specialization);
        int outcome = (profiled ? try_profiled : try_specialization)(kernel, specialization, bound, label, &result);
        if (outcome == DONE && i > 0 && i < kernel->count && kernel->specializations[i] == specialization)
            sv_kernel_insert(kernel, specialization); /* moves it, so it cannot fail */
        Py_DECREF(specialization);
        if (outcome == DONE)
            return result;
    }
    return NULL;
}

/* A member that launches the kernel that reads it is read by guards, by the lookup and by the compile: if each of these
   recursed to the end of the stack, at each level, it would never end. Once the stack is exhausted, nothing else is looked
   up on this thread until the outermost of these lookups has ended. */
static _Thread_local int lookups __attribute__((tls_model("initial-exec"))); /* nesting depth */
static _Thread_local bool exhausted __attribute__((tls_model("initial-exec")));

void sv_stack_was_exhausted(void)
{
    exhausted = lookups > 0;
}

static PyObject *stack_error(sv_kernel *kernel)
{
    sv_stack_was_exhausted();
    PyObject *path = sv_kernel_path(kernel);
    if (path != NULL)
        PyErr_Format(PyExc_RecursionError,
                     "%U: the stack is exhausted by recursive launches\n  help: look for a property or another member "
                     "that launches the kernel that reads it", path);
    Py_XDECREF(path);
    return NULL;
}

/* Get a specialization from Python, a new reference. In pure-Python mode there is none: `result` is the result of the
   call. */
static sv_specialization *request_specialization(sv_kernel *kernel, PyObject *arguments, PyObject **result)
{
    if (kernel->resolve == NULL) {
        PyErr_SetString(PyExc_ReferenceError, "the kernel is being destroyed");
        return NULL;
    }
    if (exhausted) {
        stack_error(kernel);
        return NULL;
    }
    lookups++;
    PyObject *made = PyObject_CallFunctionObjArgs(kernel->resolve, (PyObject *)kernel, arguments, NULL); /* Python may run here. */
    exhausted |= made == NULL && PyErr_ExceptionMatches(PyExc_RecursionError);
    exhausted &= --lookups > 0;
    if (made != NULL && result != NULL && PyTuple_CheckExact(made) && PyTuple_GET_SIZE(made) == 1) {
        *result = Py_NewRef(PyTuple_GET_ITEM(made, 0));
        Py_DECREF(made);
        return NULL;
    }
    if (made != NULL && PyExceptionInstance_Check(made)) { /* returned and not raised, so that no frame of ours is in its traceback */
        PyErr_SetObject(PyExceptionInstance_Class(made), made);
        Py_CLEAR(made);
    } else if (made != NULL && !PyObject_TypeCheck(made, &sv_specialization_type)) {
        PyErr_Format(PyExc_TypeError, "resolve() must return a Specialization, not %s", Py_TYPE(made)->tp_name);
        Py_CLEAR(made);
    }
    return (sv_specialization *)made;
}

/* A specialization can be outdated when it arrives: options may have been set meanwhile, or its dependencies changed. So it
   is requested again (the third time, Python trusts no cached facts). If that one is outdated too (reading a member clears
   the kernel), it runs but is not stored, as if it had been launched before. If its guards never hold, they are wrong. */
static __attribute__((noinline, cold)) PyObject *resolve(sv_kernel *kernel, PyObject *const *bound, PyObject *label)
{
    Py_ssize_t count = PyTuple_GET_SIZE(kernel->parameters);
    PyObject *arguments = PyTuple_New(count), *result = NULL;
    if (arguments == NULL)
        return NULL;
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(arguments, i, Py_NewRef(bound[i]));
    int outcome = MISS, outdated = 0;
    for (int attempt = 0; outcome == MISS && attempt < ATTEMPTS; attempt++) {
        uint64_t epoch = kernel->epoch;
        kernel->attempt = attempt;
        sv_specialization *made = request_specialization(kernel, arguments, &result);
        if (made == NULL) {
            outcome = DONE;
            break;
        }
        bool is_outdated = kernel->epoch != epoch;
        outdated += is_outdated;
        if (is_outdated)
            sv_kernel_remove(kernel, made);
        else if (sv_kernel_insert(kernel, made) < 0)
            outcome = DONE;
        if (outcome == MISS && (!is_outdated || outdated > 1))
            outcome = try_fresh(kernel, made, bound, label, &result);
        Py_DECREF(made);
    }
    if (outcome == MISS) {
        PyObject *path = sv_kernel_path(kernel);
        if (path != NULL)
            PyErr_Format(PyExc_RuntimeError, "%U: the guards of a new specialization do not hold for the arguments it "
                                             "was compiled for",
                         path);
        Py_XDECREF(path);
    }
    Py_DECREF(arguments);
    return result;
}

/* --- recorded launches */

static int prepare_with(sv_specialization *specialization, PyObject *const *bound, Py_ssize_t count, bool fresh, sv_prepared *prepared)
{
    sv_program *program = &specialization->program;
    if (program->parameter_count > count)
        return 0;
    uint8_t *block = PyMem_Calloc(1, (size_t)specialization->block_size + 1);
    if (block == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    sv_registers registers;
    int holds = sv_program_run(program, bound, &registers, block, fresh);
    if (holds == 1) {
        prepared->snapshot = sv_snapshot_record(program, bound, &registers);
        prepared->specialization = prepared->snapshot == NULL ? NULL : (sv_specialization *)Py_NewRef(specialization);
        holds = prepared->snapshot == NULL ? -1 : 1;
    }
    release(program, &registers, holds < 0);
    PyMem_Free(block);
    return holds;
}

int sv_kernel_prepare(sv_kernel *kernel, PyObject *const *bound, sv_prepared *prepared)
{
    Py_ssize_t count = PyTuple_GET_SIZE(kernel->parameters);
    int holds = 0;
    for (int i = 0; holds == 0 && i < kernel->count; i++) {
        sv_specialization *specialization = (sv_specialization *)Py_NewRef(kernel->specializations[i]);
        holds = prepare_with(specialization, bound, count, false, prepared);
        Py_DECREF(specialization);
    }
    PyObject *arguments = holds == 0 ? PyTuple_New(count) : NULL;
    if (holds != 0 || arguments == NULL)
        return holds == 1 ? 0 : -1;
    for (Py_ssize_t i = 0; i < count; i++)
        PyTuple_SET_ITEM(arguments, i, Py_NewRef(bound[i]));
    for (int attempt = 0; holds == 0 && attempt < ATTEMPTS; attempt++) {
        kernel->attempt = attempt;
        sv_specialization *made = request_specialization(kernel, arguments, NULL);
        holds = made == NULL ? -1 : prepare_with(made, bound, count, true, prepared);
        Py_XDECREF(made);
    }
    Py_DECREF(arguments);
    if (holds == 0)
        PyErr_SetString(PyExc_RuntimeError, "the guards of a new specialization do not hold for the arguments it was "
                                            "compiled for");
    return holds == 1 ? 0 : -1;
}

static inline void enter(sv_specialization *specialization, sv_context *context, uint8_t *block)
{
    context->specialization = specialization;
    int64_t begin = sv_has_hook(SV_HOOK_PROFILE) ? sv_now() : 0;
    if (specialization->slow_serial)
        call_slow_entry(specialization, context, block);
    else
        specialization->image->entry(context, block);
    if (__builtin_expect(begin != 0, 0))
        sv_profile_launched(specialization, begin);
}

/* Python may run here: dropping the last reference to an object. */
static void leave_snapshot(sv_snapshot *snapshot, sv_context *context, bool raised)
{
    PyObject *type = NULL, *value = NULL, *traceback = NULL;
    sv_context_take_gil(context);
    if (raised)
        PyErr_Fetch(&type, &value, &traceback);
    sv_snapshot_leave(snapshot);
    if (raised)
        PyErr_Restore(type, value, traceback);
}

/* If there are foreign arrays: like any other launch, on its own block. */
static int launch_copied(const sv_prepared *prepared, PyObject *const *bound, sv_context *context)
{
    sv_specialization *specialization = prepared->specialization;
    sv_program *program = &specialization->program;
    _Alignas(64) uint8_t stack_block[STACK_BLOCK];
    uint8_t *block = stack_block;
    size_t size = (size_t)specialization->block_size;
    if (size > STACK_BLOCK && (block = PyMem_Malloc(size)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    sv_registers registers;
    int holds = sv_program_run_rest(program, prepared->snapshot, bound, &registers, block);
    if (holds == 1) {
        enter(specialization, context, block);
        sv_context_take_gil(context);
        if (registers.writes_foreign || sv_has_hook(SV_HOOK_TAPE))
            sv_versions_increment(program, &registers); /* Python may run here. */
    }
    release(program, &registers, holds < 0);
    if (block != stack_block)
        PyMem_Free(block);
    return holds;
}

int sv_launch_prepared(const sv_prepared *prepared, PyObject *const *bound, sv_context *context)
{
    sv_specialization *specialization = prepared->specialization;
    sv_program *program = &specialization->program;
    sv_context_take_gil(context);
    sv_snapshot *snapshot = prepared->snapshot;
    if (!sv_snapshot_is_current(snapshot))
        return 0;
    if (!has_room(specialization))
        return -1;
    if (snapshot->in_place && !sv_has_hook(SV_HOOK_TAPE)) {
        int holds = sv_program_run_in_place(program, snapshot, bound);
        if (holds == 1)
            enter(specialization, context, snapshot->block);
        if (snapshot->owned_count > 0)
            leave_snapshot(snapshot, context, holds < 0);
        return holds;
    }
    return launch_copied(prepared, bound, context);
}
static __attribute__((noinline, cold)) PyObject *record_call(sv_kernel *kernel, PyObject *const *bound, PyObject *label)
{
    if (label == NULL)
        return sv_record(sv_recording, kernel, bound);
    PyErr_SetString(PyExc_RuntimeError, "a launch from a checkpoint cannot be recorded");
    return NULL;
}

/* A call that does not take the fast path. */
static __attribute__((noinline, cold)) PyObject *call_through_hook(sv_kernel *kernel, PyObject *const *bound, PyObject *label)
{
    if (sv_recording != NULL && sv_is_recording_here())
        return record_call(kernel, bound, label);
    PyObject *result;
    if (sv_has_hook(SV_HOOK_TAPE) && sv_taped_call(kernel, bound, label, &result))
        return result;
    if (sv_has_hook(SV_HOOK_CALLS) && sv_profiled_call(kernel, bound, label, &result))
        return result;
    result = dispatch(kernel, bound, label, sv_has_hook(SV_HOOK_PROFILE));
    return result != NULL || PyErr_Occurred() ? result : resolve(kernel, bound, label);
}

static inline PyObject *call_bound(sv_kernel *kernel, PyObject *const *bound, PyObject *label)
{
    if (sv_has_hook(~0u))
        return call_through_hook(kernel, bound, label);
    PyObject *result = dispatch(kernel, bound, label, false);
    return result != NULL || PyErr_Occurred() ? result : resolve(kernel, bound, label);
}

static inline __attribute__((always_inline)) PyObject *call(sv_kernel *kernel, PyObject *const *args, Py_ssize_t positional,
                                                            PyObject *keywords, PyObject *label)
{
    if (sv_stack_is_short())
        return stack_error(kernel);
    Py_ssize_t count = PyTuple_GET_SIZE(kernel->parameters);
    if (positional == count && keywords == NULL && kernel->keyword_only == 0)
        return call_bound(kernel, args, label);
    PyObject *stack_bound[STACK_ARGUMENTS], **bound = stack_bound;
    if (count > STACK_ARGUMENTS && (bound = PyMem_Malloc(sizeof *bound * (size_t)count)) == NULL)
        return PyErr_NoMemory();
    PyObject *result = bind(kernel, args, positional, keywords, bound) < 0 ? NULL : call_bound(kernel, bound, label);
    if (bound != stack_bound)
        PyMem_Free(bound);
    return result;
}

PyObject *sv_kernel_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *keywords)
{
    return call((sv_kernel *)self, args, PyVectorcall_NARGS(nargsf), keywords, NULL);
}

PyObject *sv_kernel_resume(sv_kernel *kernel, PyObject *const *args, Py_ssize_t positional, PyObject *keywords, PyObject *label)
{
    return call(kernel, args, positional, keywords, label);
}
