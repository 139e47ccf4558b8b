/* The symbols that an image may use: the runtime interface, memory moves, what LLVM calls where a machine has no instruction
   (half-precision conversions, 128-bit division, powers), and the math libraries. Everything else is rejected, so that a
   damaged or forged image cannot reach into the process. */
#include "launch/runtime.h"
#include "sparse/tree.h"
#include "vector_math/vector_math.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A half is passed in the lowest 16 bits of an SSE register, as a float is in the lowest 32: these signatures follow the
   platform's ABI for halves without the _Float16 type, which older compilers lack. */
static float truncate_double_to_half(double value)
{
    uint32_t bits = sv_half_from_double(value);
    float result;
    memcpy(&result, &bits, sizeof result);
    return result;
}

static float truncate_float_to_half(float value)
{
    return truncate_double_to_half((double)value);
}

static float extend_half_to_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (float)sv_half_to_double((uint16_t)bits);
}

/* From the compiler's support library; LLVM and gcc share the names. */
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;
extern wide __divti3(wide, wide), __modti3(wide, wide), __fixdfti(double), __fixsfti(float);
extern unsigned_wide __udivti3(unsigned_wide, unsigned_wide), __umodti3(unsigned_wide, unsigned_wide);
extern unsigned_wide __fixunsdfti(double), __fixunssfti(float);
extern double __floattidf(wide), __floatuntidf(unsigned_wide), __powidf2(double, int);
extern float __floattisf(wide), __floatuntisf(unsigned_wide), __powisf2(float, int);

typedef void (*any_function)(void);

/* `reals` is the number of parameters of a function of doubles only, and 0 for all others. */
typedef struct {
    const char *name;
    any_function function;
    int reals;
} known_symbol;

/* In the order of strcmp. */
static const known_symbol known_symbols[] = {
#define AS(name_, function_) {name_, (any_function)(function_), 0}
#define NAME(name_) AS(#name_, name_)
#define REAL(name_, count_) {#name_, (any_function)(name_), count_}
    NAME(__divti3), AS("__extendhfsf2", extend_half_to_float), NAME(__fixdfti), NAME(__fixsfti), NAME(__fixunsdfti),
    NAME(__fixunssfti), NAME(__floattidf), NAME(__floattisf), NAME(__floatuntidf), NAME(__floatuntisf), NAME(__modti3),
    NAME(__powidf2), NAME(__powisf2), AS("__truncdfhf2", truncate_double_to_half),
    AS("__truncsfhf2", truncate_float_to_half), NAME(__udivti3), NAME(__umodti3), REAL(acos, 1), NAME(acosf),
    REAL(acosh, 1), NAME(acoshf), REAL(asin, 1), NAME(asinf), REAL(asinh, 1), NAME(asinhf), REAL(atan, 1),
    REAL(atan2, 2), NAME(atan2f), NAME(atanf), REAL(atanh, 1), NAME(atanhf), NAME(bcmp), REAL(cbrt, 1), NAME(cbrtf),
    REAL(ceil, 1), NAME(ceilf), REAL(copysign, 2), NAME(copysignf), REAL(cos, 1), NAME(cosf), REAL(cosh, 1),
    NAME(coshf), REAL(erf, 1), REAL(erfc, 1), NAME(erfcf), NAME(erff), REAL(exp, 1), REAL(exp10, 1), NAME(exp10f),
    REAL(exp2, 1), NAME(exp2f), NAME(expf), REAL(expm1, 1), NAME(expm1f), REAL(fabs, 1), NAME(fabsf), REAL(fdim, 2),
    NAME(fdimf), REAL(floor, 1), NAME(floorf), REAL(fma, 3), NAME(fmaf), REAL(fmax, 2), NAME(fmaxf), REAL(fmin, 2),
    NAME(fminf), REAL(fmod, 2), NAME(fmodf), NAME(frexp), NAME(frexpf), REAL(hypot, 2), NAME(hypotf), NAME(ilogb),
    NAME(ilogbf), NAME(ldexp), NAME(ldexpf), REAL(lgamma, 1), NAME(lgammaf), NAME(llrint), NAME(llrintf),
    NAME(llround), NAME(llroundf), REAL(log, 1), REAL(log10, 1), NAME(log10f), REAL(log1p, 1), NAME(log1pf),
    REAL(log2, 1), NAME(log2f), REAL(logb, 1), NAME(logbf), NAME(logf), NAME(lrint), NAME(lrintf), NAME(lround),
    NAME(lroundf), NAME(memcmp), NAME(memcpy), NAME(memmove), NAME(memset), NAME(modf), NAME(modff),
    REAL(nearbyint, 1), NAME(nearbyintf), REAL(nextafter, 2), NAME(nextafterf), REAL(pow, 2), NAME(powf),
    REAL(remainder, 2), NAME(remainderf), REAL(rint, 1), NAME(rintf), REAL(round, 1), REAL(roundeven, 1),
    NAME(roundevenf), NAME(roundf), NAME(scalbn), NAME(scalbnf), REAL(sin, 1), NAME(sincos), NAME(sincosf), NAME(sinf),
    REAL(sinh, 1), NAME(sinhf), REAL(sqrt, 1), NAME(sqrtf), NAME(sv_clock), NAME(sv_fail), NAME(sv_failed),
    NAME(sv_poll), NAME(sv_pop), NAME(sv_print), NAME(sv_push), NAME(sv_races_begin), NAME(sv_races_end), NAME(sv_races_iteration), NAME(sv_races_touch),
    NAME(sv_random), NAME(sv_run), NAME(sv_scratch), NAME(sv_sections),
    NAME(sv_sections_begin), NAME(sv_sections_end), NAME(sv_sections_next), NAME(sv_sparse_activate),
    NAME(sv_sparse_deactivate), NAME(sv_sparse_list), NAME(sv_sparse_reach), NAME(sv_thread), NAME(sv_threads), REAL(tan, 1), NAME(tanf), REAL(tanh, 1),
    NAME(tanhf), REAL(tgamma, 1), NAME(tgammaf), REAL(trunc, 1), NAME(truncf),
#undef REAL
#undef NAME
#undef AS
};

enum { KNOWN_COUNT = sizeof known_symbols / sizeof *known_symbols };

static int compare_names(const void *name, const void *symbol)
{
    return strcmp(name, ((const known_symbol *)symbol)->name);
}

/* One of our own vector functions, by its full name. */
static void *own_vector_symbol(const char *name)
{
    const sv_vector_row *tables[] = {sv_avx2_functions, sv_avx512_functions};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const sv_vector_row *row = tables[i]; row->name != NULL; row++)
            if (strcmp(row->name, name) == 0) {
                void *address;
                memcpy(&address, &row->function, sizeof address);
                return address;
            }
    return NULL;
}

/* Vector variants of other math functions: only `fast_math` code calls them, so the library is opened on first use, and
   stays open for the life of the process: images hold addresses in it. */
static void *vector_symbol(const char *name)
{
    static void *library;
    if (library == NULL)
        library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == NULL ? NULL : dlsym(library, name);
}

static const known_symbol *find_symbol(const char *name)
{
    return bsearch(name, known_symbols, KNOWN_COUNT, sizeof *known_symbols, compare_names);
}

void *sv_symbol(const char *name)
{
    if (strncmp(name, "_ZGV", 4) == 0)
        return vector_symbol(name);
    if (strncmp(name, "sv_avx", 6) == 0)
        return own_vector_symbol(name);
    const known_symbol *symbol = find_symbol(name);
    void *address = NULL;
    if (symbol != NULL)
        memcpy(&address, &symbol->function, sizeof address);
    return address;
}

static PyObject *symbol_address(PyObject *Py_UNUSED(module), PyObject *argument)
{
    const char *name = PyUnicode_AsUTF8(argument);
    if (name == NULL)
        return NULL;
    void *address = sv_symbol(name);
    if (address == NULL)
        Py_RETURN_NONE;
    return PyLong_FromVoidPtr(address);
}

static PyObject *symbol_names(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(unused))
{
    PyObject *names = PyTuple_New(KNOWN_COUNT);
    for (Py_ssize_t i = 0; names != NULL && i < KNOWN_COUNT; i++) {
        PyObject *name = PyUnicode_FromString(known_symbols[i].name);
        if (name == NULL)
            Py_CLEAR(names);
        else
            PyTuple_SET_ITEM(names, i, name);
    }
    return names;
}

/* The result of `library_function`: `self` is the row of the table. */
static const char real_function_kind[] = "samovar real function";

static PyObject *call_real_function(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    const known_symbol *symbol = PyCapsule_GetPointer(self, real_function_kind);
    if (symbol == NULL)
        return NULL;
    if (count != symbol->reals)
        return PyErr_Format(PyExc_TypeError, "%s takes %d numbers, not %zd", symbol->name, symbol->reals, count);
    double numbers[3] = {0};
    for (Py_ssize_t i = 0; i < count; i++) {
        numbers[i] = PyFloat_AsDouble(arguments[i]);
        if (numbers[i] == -1.0 && PyErr_Occurred())
            return NULL;
    }
    switch (count) {
    case 1:
        return PyFloat_FromDouble(((double (*)(double))symbol->function)(numbers[0]));
    case 2:
        return PyFloat_FromDouble(((double (*)(double, double))symbol->function)(numbers[0], numbers[1]));
    default:
        return PyFloat_FromDouble(
            ((double (*)(double, double, double))symbol->function)(numbers[0], numbers[1], numbers[2]));
    }
}

static PyMethodDef real_function = {
    "real_function", (PyCFunction)(void (*)(void))call_real_function, METH_FASTCALL, "A function of the C library."};

static PyObject *library_function(PyObject *Py_UNUSED(module), PyObject *argument)
{
    const char *name = PyUnicode_AsUTF8(argument);
    if (name == NULL)
        return NULL;
    const known_symbol *symbol = find_symbol(name);
    if (symbol == NULL || symbol->reals == 0)
        return PyErr_Format(PyExc_LookupError, "%R is not a function of doubles that images may use", argument);
    PyObject *self = PyCapsule_New((void *)symbol, real_function_kind, NULL);
    if (self == NULL)
        return NULL;
    PyObject *function = PyCFunction_New(&real_function, self);
    Py_DECREF(self);
    return function;
}

static PyMethodDef functions[] = {
    {"library_function", library_function, METH_O,
     "library_function(name, /)\n--\n\n"
     "The C library function of doubles that images call by this name. It never raises for floats.\n\n"
     ">>> from samovar._native import library_function\n>>> library_function(\"log\")(0.0)\n-inf"},
    {"symbol_address", symbol_address, METH_O,
     "symbol_address(name, /)\n--\n\n"
     "The address of a symbol that images may use, or None.\n\n"
     ">>> from samovar._native import symbol_address\n>>> symbol_address(\"system\") is None\nTrue"},
    {"symbol_names", symbol_names, METH_NOARGS,
     "symbol_names()\n--\n\n"
     "The symbols that images may use, without the vector variants of libmvec, in order."},
    {NULL, NULL, 0, NULL},
};

int sv_symbols_init(PyObject *module)
{
    return PyModule_AddFunctions(module, functions);
}
