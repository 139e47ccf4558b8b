/* The symbols an image may use: the runtime entry points, moves of memory, what LLVM calls where a machine has no
   instruction (conversions of halves, division of 128 bits, powers), and the math libraries. Everything else is refused, so
   that a damaged or foreign image cannot reach into the process. */
#include "runtime.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* A half travels in the lowest 16 bits of an SSE register, as a float does in the lowest 32: these signatures are the
   platform's for halves, spelled without the _Float16 type that older compilers lack. */
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

/* Of the support library that every compiler links; LLVM and gcc share the names. */
__extension__ typedef __int128 wide;
__extension__ typedef unsigned __int128 unsigned_wide;
extern wide __divti3(wide, wide), __modti3(wide, wide), __fixdfti(double), __fixsfti(float);
extern unsigned_wide __udivti3(unsigned_wide, unsigned_wide), __umodti3(unsigned_wide, unsigned_wide);
extern unsigned_wide __fixunsdfti(double), __fixunssfti(float);
extern double __floattidf(wide), __floatuntidf(unsigned_wide), __powidf2(double, int);
extern float __floattisf(wide), __floatuntisf(unsigned_wide), __powisf2(float, int);

typedef void (*any_function)(void);

typedef struct {
    const char *name;
    any_function function;
} known_symbol;

/* In the order of strcmp. */
static const known_symbol known_symbols[] = {
#define AS(name_, function_) {name_, (any_function)(function_)}
#define NAME(name_) AS(#name_, name_)
    NAME(__divti3), AS("__extendhfsf2", extend_half_to_float), NAME(__fixdfti), NAME(__fixsfti), NAME(__fixunsdfti),
    NAME(__fixunssfti), NAME(__floattidf), NAME(__floattisf), NAME(__floatuntidf), NAME(__floatuntisf), NAME(__modti3),
    NAME(__powidf2), NAME(__powisf2), AS("__truncdfhf2", truncate_double_to_half),
    AS("__truncsfhf2", truncate_float_to_half), NAME(__udivti3), NAME(__umodti3), NAME(acos), NAME(acosf), NAME(acosh),
    NAME(acoshf), NAME(asin), NAME(asinf), NAME(asinh), NAME(asinhf), NAME(atan), NAME(atan2), NAME(atan2f), NAME(atanf),
    NAME(atanh), NAME(atanhf), NAME(bcmp), NAME(cbrt), NAME(cbrtf), NAME(ceil), NAME(ceilf), NAME(copysign), NAME(copysignf),
    NAME(cos), NAME(cosf), NAME(cosh), NAME(coshf), NAME(erf), NAME(erfc), NAME(erfcf), NAME(erff), NAME(exp), NAME(exp10),
    NAME(exp10f), NAME(exp2), NAME(exp2f), NAME(expf), NAME(expm1), NAME(expm1f), NAME(fabs), NAME(fabsf), NAME(fdim),
    NAME(fdimf), NAME(floor), NAME(floorf), NAME(fma), NAME(fmaf), NAME(fmax), NAME(fmaxf), NAME(fmin), NAME(fminf),
    NAME(fmod), NAME(fmodf), NAME(frexp), NAME(frexpf), NAME(hypot), NAME(hypotf), NAME(ilogb), NAME(ilogbf), NAME(ldexp),
    NAME(ldexpf), NAME(lgamma), NAME(lgammaf), NAME(llrint), NAME(llrintf), NAME(llround), NAME(llroundf), NAME(log),
    NAME(log10), NAME(log10f), NAME(log1p), NAME(log1pf), NAME(log2), NAME(log2f), NAME(logb), NAME(logbf), NAME(logf),
    NAME(lrint), NAME(lrintf), NAME(lround), NAME(lroundf), NAME(memcmp), NAME(memcpy), NAME(memmove), NAME(memset),
    NAME(modf), NAME(modff), NAME(nearbyint), NAME(nearbyintf), NAME(nextafter), NAME(nextafterf), NAME(pow), NAME(powf),
    NAME(remainder), NAME(remainderf), NAME(rint), NAME(rintf), NAME(round), NAME(roundeven), NAME(roundevenf), NAME(roundf),
    NAME(scalbn), NAME(scalbnf), NAME(sin), NAME(sincos), NAME(sincosf), NAME(sinf), NAME(sinh), NAME(sinhf), NAME(sqrt),
    NAME(sqrtf), NAME(sv_elements), NAME(sv_fail), NAME(sv_failed), NAME(sv_print), NAME(sv_races_begin), NAME(sv_races_end),
    NAME(sv_races_iteration), NAME(sv_races_touch), NAME(sv_random), NAME(sv_run), NAME(sv_scratch),
    NAME(sv_threads), NAME(tan), NAME(tanf), NAME(tanh), NAME(tanhf), NAME(tgamma), NAME(tgammaf), NAME(trunc), NAME(truncf),
#undef NAME
#undef AS
};

enum { KNOWN_COUNT = sizeof known_symbols / sizeof *known_symbols };

static int compare_names(const void *name, const void *symbol)
{
    return strcmp(name, ((const known_symbol *)symbol)->name);
}

/* Vector variants of math functions: only code of `fast_math` calls them, so the library is opened when the first is asked
   for, and kept for the life of the process: images hold addresses in it. */
static void *vector_symbol(const char *name)
{
    static void *library;
    if (library == NULL)
        library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
    return library == NULL ? NULL : dlsym(library, name);
}

void *sv_symbol(const char *name)
{
    if (strncmp(name, "_ZGV", 4) == 0)
        return vector_symbol(name);
    const known_symbol *symbol = bsearch(name, known_symbols, KNOWN_COUNT, sizeof *known_symbols, compare_names);
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

static PyMethodDef functions[] = {
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
