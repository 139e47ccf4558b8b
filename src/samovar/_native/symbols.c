/* The symbols an image may use: the runtime entry points, memory moves, conversions of halves, and the math libraries.
   Everything else is refused, so that a damaged or foreign image cannot reach into the process. */
#include "runtime.h"

#include <dlfcn.h>
#include <string.h>

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

typedef void (*any_function)(void);

static const struct {
    const char *name;
    any_function function;
} own_symbols[] = {
#define OWN(name_, function_) {name_, (any_function)(function_)}
    OWN("sv_run", sv_run),
    OWN("sv_fail", sv_fail),
    OWN("sv_failed", sv_failed),
    OWN("sv_print", sv_print),
    OWN("sv_scratch", sv_scratch),
    OWN("sv_threads", sv_threads),
    OWN("sv_random", sv_random),
    OWN("memcpy", memcpy),
    OWN("memmove", memmove),
    OWN("memset", memset),
    OWN("__truncdfhf2", truncate_double_to_half),
    OWN("__truncsfhf2", truncate_float_to_half),
    OWN("__extendhfsf2", extend_half_to_float),
#undef OWN
};

/* A symbol of a library itself, not of what the library depends on: libm leads to all of libc. */
static void *library_symbol(void *library, const char *file_prefix, const char *name)
{
    void *address = library == NULL ? NULL : dlsym(library, name);
    Dl_info info;
    if (address == NULL || dladdr(address, &info) == 0 || info.dli_fname == NULL)
        return NULL;
    const char *slash = strrchr(info.dli_fname, '/');
    const char *file = slash == NULL ? info.dli_fname : slash + 1;
    return strncmp(file, file_prefix, strlen(file_prefix)) == 0 ? address : NULL;
}

void *sv_symbol(const char *name)
{
    for (size_t i = 0; i < sizeof own_symbols / sizeof *own_symbols; i++)
        if (strcmp(own_symbols[i].name, name) == 0) {
            void *address;
            memcpy(&address, &own_symbols[i].function, sizeof address);
            return address;
        }
    /* Opened once, kept for the life of the process: images hold addresses in them. */
    static void *math, *vector_math;
    if (strncmp(name, "_ZGV", 4) == 0) {
        if (vector_math == NULL)
            vector_math = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
        return library_symbol(vector_math, "libmvec", name);
    }
    if (math == NULL)
        math = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL);
    return library_symbol(math, "libm", name);
}
