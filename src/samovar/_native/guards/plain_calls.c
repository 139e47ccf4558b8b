/* Plain calls in guard programs. If the dependencies of a plain Python function in `static` can be described completely,
   they are compared (deep_values.c); otherwise the function is called before each launch, and guards check its result. */
#include "guards/guards.h"
#include "launch/runtime.h"

/* The number of calls that are timed. If the fastest takes longer than this, a warning is issued. */
enum { TIMED_CALLS = 8, SLOW_CALL = 20 * 1000 };
enum { STACK_GIVEN = 16 };

/* Python may run here. */
static int warn_slow_call(PyObject *text, int64_t nanoseconds)
{
    PyObject *module = PyImport_ImportModule("samovar.runtime.rechecked_calls");
    PyObject *done = module == NULL ? NULL : PyObject_CallMethod(module, "warn_of_slow_call", "OL", text, (long long)nanoseconds);
    Py_XDECREF(module);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

/* Whether the exception concerns only the call. Interrupts and resource exhaustion do not. */
static bool is_about_the_call(void)
{
    return PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_MemoryError) &&
           !PyErr_ExceptionMatches(PyExc_RecursionError);
}

int sv_load_call(const sv_instruction *load, const sv_registers *state, PyObject **result)
{
    sv_given *given = load->call.given;
    if (state->fresh) {
        *result = Py_NewRef(load->call.result);
        return 1;
    }
    *result = NULL;
    PyObject *names = load->call.names, *stack[STACK_GIVEN + 1], **arguments = stack;
    size_t count = (size_t)given->count, named = (size_t)PyTuple_GET_SIZE(names);
    if (count > STACK_GIVEN && (arguments = PyMem_Malloc(sizeof *arguments * (count + 1))) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        arguments[i + 1] = state->registers[given->registers[i]];
    int64_t begin = given->timed < TIMED_CALLS ? sv_now() : 0;
    sv_python_may_run();
    if (Py_EnterRecursiveCall(" before a launch") == 0) {
        /* Python may run here. The caller keeps the specialization alive. */
        *result = PyObject_Vectorcall(state->registers[load->source], arguments + 1, (count - named) | PY_VECTORCALL_ARGUMENTS_OFFSET,
                                      named > 0 ? names : NULL);
        Py_LeaveRecursiveCall();
    }
    if (arguments != stack)
        PyMem_Free(arguments);
    if (*result == NULL) {
        if (!is_about_the_call())
            return -1;
        PyErr_Clear();
        return 0;
    }
    if (begin == 0 || given->timed >= TIMED_CALLS)
        return 1;
    int64_t taken = sv_now() - begin;
    if (given->timed == 0 || taken < given->fastest)
        given->fastest = taken;
    given->timed++;
    return given->timed == TIMED_CALLS && given->fastest > SLOW_CALL && warn_slow_call(load->call.text, given->fastest) < 0 ? -1 : 1;
}

int sv_load_tuple(const sv_instruction *load, const sv_registers *state, PyObject **result)
{
    const sv_given *given = load->call.given;
    *result = PyTuple_New(given->count);
    for (int i = 0; *result != NULL && i < given->count; i++)
        PyTuple_SET_ITEM(*result, i, Py_NewRef(state->registers[given->registers[i]]));
    return *result == NULL ? -1 : 1;
}
