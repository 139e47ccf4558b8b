/* A stable parallel radix sort on the thread pool: keys of any dtype, optionally with values of any dtype.

   Keys are mapped in place to unsigned integers of the same order, and back at the end. The highest digit that differs
   partitions the elements into buckets: each thread builds a histogram of its part and then knows where its elements go.
   Each bucket that fits into cache is sorted by one thread, least significant digit first; a larger one is partitioned
   again. Floats are in IEEE 754 order: -0 before 0; NaN comes last, as in NumPy. */
#pragma GCC optimize("O3") /* the rest of the extension is optimized for size */
#include "algorithms/algorithms.h"

#include <string.h>

/* Bits per digit when partitioning, and when sorting a bucket. */
enum { WIDE_BITS = 10, WIDE = 1 << WIDE_BITS, DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };
/* Below this size, more parts cost more than the sort. */
static const int64_t SMALLEST_PART = 1 << 14;
/* The bytes of a bucket that is sorted in cache; the elements per bucket that a partition aims at; the size up to which
   insertion sort is used. */
static const int64_t CACHED = 1 << 18, DEALT = 1 << 13;
enum { FEW = 48 };
/* The digits of a bucket that are sorted before insertion sort takes over (random keys differ in them), and the average
   distance beyond which the lower digits are sorted after all. */
enum { LEADING = 2, DISTANCE = 4 };

typedef struct {
    char *keys, *values; /* the elements, and a buffer of the same size */
    char *other_keys, *other_values;
    int64_t *counts; /* per digit and part; later the position of the first one */
    uint64_t *differing; /* by part: the bits in which a key differs from the first one */
    int64_t size, part, largest; /* of the range; of a part of it; of a bucket that one thread sorts */
    int bits, shift;
    bool across; /* the sorted elements end in the buffer */
    int key_size, value_size;
    sv_dtype_code code;
} sorting;

static int64_t end_of_part(const sorting *work, int64_t part)
{
    int64_t end = (part + 1) * work->part;
    return end < work->size ? end : work->size;
}

/* --- keys as unsigned integers, and back */

#define SIGN(bits) ((uint##bits##_t)1 << ((bits) - 1))

/* Negative floats are in reverse order; NaN of either sign maps to the largest integer, beyond infinity. */
#define FLOATS(code, bits, infinity)                                                                                           \
    case code: {                                                                                                               \
        uint##bits##_t *keys = (uint##bits##_t *)work->keys;                                                                                     \
        for (int64_t at = begin; at < end; at++) {                                                                             \
            uint##bits##_t key = keys[at];                                                                                     \
            if (back)                                                                                                          \
                keys[at] = key & SIGN(bits) ? key ^ SIGN(bits) : (uint##bits##_t)~key;                                         \
            else if ((key & (uint##bits##_t)(SIGN(bits) - 1)) > (infinity))                                                    \
                keys[at] = (uint##bits##_t)~(uint##bits##_t)0;                                                                 \
            else                                                                                                               \
                keys[at] = key & SIGN(bits) ? (uint##bits##_t)~key : key | SIGN(bits);                                         \
        }                                                                                                                      \
        break;                                                                                                                 \
    }
#define SIGNED(code, bits)                                                                                                     \
    case code: {                                                                                                               \
        uint##bits##_t *keys = (uint##bits##_t *)work->keys;                                                                                     \
        for (int64_t at = begin; at < end; at++)                                                                               \
            keys[at] ^= SIGN(bits);                                                                                            \
        break;                                                                                                                 \
    }

static void translate(const sorting *work, int64_t begin, int64_t end, bool back)
{
    switch (work->code) {
    SIGNED(SV_I8, 8)
    SIGNED(SV_I16, 16)
    SIGNED(SV_I32, 32)
    SIGNED(SV_I64, 64)
    FLOATS(SV_F16, 16, 0x7c00u)
    FLOATS(SV_BF16, 16, 0x7f80u)
    FLOATS(SV_F32, 32, 0x7f800000u)
    FLOATS(SV_F64, 64, 0x7ff0000000000000ull)
    default: break;
    }
}

#define DIFFERING(size, type)                                                                                                  \
    case size: {                                                                                                               \
        const type *keys = (const type *)work->keys;                                                                           \
        type bits = 0;                                                                                                         \
        for (int64_t at = begin; at < end; at++)                                                                               \
            bits |= keys[at] ^ keys[begin];                                                                                    \
        return bits;                                                                                                           \
    }

/* The bits in which keys differ from the first one. */
static uint64_t differing_bits(const sorting *work, int64_t begin, int64_t end)
{
    switch (work->key_size) {
    DIFFERING(1, uint8_t)
    DIFFERING(2, uint16_t)
    DIFFERING(4, uint32_t)
    DIFFERING(8, uint64_t)
    default: return 0;
    }
}

static uint64_t key_at(const sorting *work, int64_t at)
{
    uint64_t key = 0;
    memcpy(&key, work->keys + at * work->key_size, (size_t)work->key_size);
    return key;
}

static void to_numbers(void *frame, int64_t begin, int64_t end)
{
    const sorting *work = frame;
    for (int64_t part = begin; part < end; part++) {
        translate(work, part * work->part, end_of_part(work, part), false);
        work->differing[part] = differing_bits(work, part * work->part, end_of_part(work, part));
    }
}

static void from_numbers(void *frame, int64_t begin, int64_t end)
{
    const sorting *work = frame;
    for (int64_t part = begin; part < end; part++)
        translate(work, part * work->part, end_of_part(work, part), true);
}

/* --- passes */

/* The bits by which one thread partitions a range. */
static int dealing_bits(int64_t size, int bits)
{
    int wanted = 63 - __builtin_clzll((uint64_t)(size / DEALT) | 16);
    wanted = wanted < DIGIT_BITS ? wanted : DIGIT_BITS;
    return wanted < bits ? wanted : bits;
}

#define KEY uint8_t
#define NAME(word) word##_8
#include "sorting_pass.h"
#define KEY uint8_t
#define VALUE uint8_t
#define NAME(word) word##_8_8
#include "sorting_pass.h"
#define KEY uint8_t
#define VALUE uint16_t
#define NAME(word) word##_8_16
#include "sorting_pass.h"
#define KEY uint8_t
#define VALUE uint32_t
#define NAME(word) word##_8_32
#include "sorting_pass.h"
#define KEY uint8_t
#define VALUE uint64_t
#define NAME(word) word##_8_64
#include "sorting_pass.h"
#define KEY uint16_t
#define NAME(word) word##_16
#include "sorting_pass.h"
#define KEY uint16_t
#define VALUE uint8_t
#define NAME(word) word##_16_8
#include "sorting_pass.h"
#define KEY uint16_t
#define VALUE uint16_t
#define NAME(word) word##_16_16
#include "sorting_pass.h"
#define KEY uint16_t
#define VALUE uint32_t
#define NAME(word) word##_16_32
#include "sorting_pass.h"
#define KEY uint16_t
#define VALUE uint64_t
#define NAME(word) word##_16_64
#include "sorting_pass.h"
#define KEY uint32_t
#define NAME(word) word##_32
#include "sorting_pass.h"
#define KEY uint32_t
#define VALUE uint8_t
#define NAME(word) word##_32_8
#include "sorting_pass.h"
#define KEY uint32_t
#define VALUE uint16_t
#define NAME(word) word##_32_16
#include "sorting_pass.h"
#define KEY uint32_t
#define VALUE uint32_t
#define NAME(word) word##_32_32
#include "sorting_pass.h"
#define KEY uint32_t
#define VALUE uint64_t
#define NAME(word) word##_32_64
#include "sorting_pass.h"
#define KEY uint64_t
#define NAME(word) word##_64
#include "sorting_pass.h"
#define KEY uint64_t
#define VALUE uint8_t
#define NAME(word) word##_64_8
#include "sorting_pass.h"
#define KEY uint64_t
#define VALUE uint16_t
#define NAME(word) word##_64_16
#include "sorting_pass.h"
#define KEY uint64_t
#define VALUE uint32_t
#define NAME(word) word##_64_32
#include "sorting_pass.h"
#define KEY uint64_t
#define VALUE uint64_t
#define NAME(word) word##_64_64
#include "sorting_pass.h"

/* The routines for one element size each. */
typedef struct {
    sv_task_function count, deal, finish;
    void (*range)(const sorting *work, int64_t begin, int64_t end, int bits, bool across);
} steps;

#define STEPS(kind) {count_##kind, deal_##kind, finish_##kind, range_##kind}
#define STEPS_OF(bits) {STEPS(bits), STEPS(bits##_8), STEPS(bits##_16), STEPS(bits##_32), STEPS(bits##_64)}
/* By log2 of the key size; then without values, or by log2 of the value size. */
static const steps all_steps[4][5] = {STEPS_OF(8), STEPS_OF(16), STEPS_OF(32), STEPS_OF(64)};

/* Turn histograms into positions: digit by digit, and part by part within each. False if all keys have the same digit and
   stay in place. */
static bool place_digits(const sorting *work, int64_t parts)
{
    int64_t place = 0;
    for (int digit = 0; digit < WIDE; digit++) {
        int64_t before = place;
        for (int64_t part = 0; part < parts; part++) {
            int64_t *count = &work->counts[part * WIDE + digit], own = *count;
            *count = place;
            place += own;
        }
        if (place - before == work->size)
            return false;
    }
    return true;
}

/* Sort a range by its lowest bits, with all threads. If all elements fall into one bucket repeatedly, each level has fewer
   bits, so the recursion is shallow. 0, or -1 without memory. */
static int sort_wide(const steps *step, sorting work)
{
    int64_t parts = sv_pool_threads(), most = work.size / SMALLEST_PART;
    parts = parts < most ? parts : most;
    if (parts < 2 || work.bits <= 0) {
        step->range(&work, 0, work.size, work.bits, work.across);
        return 0;
    }
    work.part = (work.size + parts - 1) / parts;
    work.largest = work.size / (2 * parts);
    work.counts = PyMem_RawMalloc(sizeof *work.counts * WIDE * (size_t)parts);
    if (work.counts == NULL)
        return -1;
    bool dealt = false;
    while (!dealt && work.bits > 0) {
        work.shift = work.bits > WIDE_BITS ? work.bits - WIDE_BITS : 0;
        sv_run_chunks(step->count, &work, 0, parts);
        dealt = place_digits(&work, parts);
        work.bits = dealt ? work.bits : work.shift;
    }
    int failed = 0;
    if (!dealt) {
        step->range(&work, 0, work.size, 0, work.across);
    } else {
        sv_run_chunks(step->deal, &work, 0, parts);
        /* The last element of a part ends at its current position: the counts of the last part are the ends of the
           digits. */
        const int64_t *ends = work.counts + (parts - 1) * WIDE;
        sv_run_chunks(step->finish, &work, 0, WIDE);
        for (int digit = 0; digit < WIDE && failed == 0; digit++) {
            int64_t begin = digit == 0 ? 0 : ends[digit - 1], size = ends[digit] - begin;
            if (size <= work.largest)
                continue;
            sorting rest = work;
            rest.keys = work.other_keys + begin * work.key_size;
            rest.other_keys = work.keys + begin * work.key_size;
            rest.values = work.value_size ? work.other_values + begin * work.value_size : NULL;
            rest.other_values = work.value_size ? work.values + begin * work.value_size : NULL;
            rest.size = size;
            rest.bits = work.shift;
            rest.across = !work.across;
            failed = sort_wide(step, rest);
        }
    }
    PyMem_RawFree(work.counts);
    return failed;
}

static int sort(sorting *work, int64_t parts)
{
    const steps *step = &all_steps[__builtin_ctz((unsigned)work->key_size)]
                                  [work->value_size ? 1 + __builtin_ctz((unsigned)work->value_size) : 0];
    work->part = (work->size + parts - 1) / parts;
    sv_run_chunks(to_numbers, work, 0, parts);
    uint64_t differing = 0;
    for (int64_t part = 0; part < parts; part++)
        differing |= work->differing[part] | (key_at(work, part * work->part) ^ key_at(work, 0));
    work->bits = differing == 0 ? 0 : 64 - __builtin_clzll(differing);
    int failed = sort_wide(step, *work);
    sv_run_chunks(from_numbers, work, 0, parts);
    return failed;
}

static PyObject *sort_elements(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *keys, *values;
    if (!PyArg_ParseTuple(args, "OO:sort_elements", &keys, &values))
        return NULL;
    sv_tensor_view key_view, value_view;
    int64_t size, value_count;
    if (sv_elements_of(keys, true, &key_view, &size) < 0)
        return NULL;
    bool has_values = values != Py_None;
    if (has_values && sv_elements_of(values, true, &value_view, &value_count) < 0) {
        sv_tensor_view_release(&key_view);
        return NULL;
    }
    int64_t parts = sv_pool_threads(), most = size / SMALLEST_PART;
    parts = parts < most ? parts : most > 0 ? most : 1;
    sv_array *memory = NULL; /* an array: on huge pages, which keep many write positions within TLB reach */
    sorting work = {.keys = key_view.data, .values = has_values ? value_view.data : NULL, .size = size,
                    .key_size = key_view.dtype->itemsize, .value_size = has_values ? value_view.dtype->itemsize : 0,
                    .code = key_view.dtype->code};
    if (has_values && value_count != size) {
        PyErr_SetString(PyExc_ValueError, "expected one value per key");
        goto done;
    }
    if (size > 1) {
        int64_t bytes = size * (work.key_size + work.value_size);
        work.differing = PyMem_RawMalloc(sizeof *work.differing * (size_t)parts);
        memory = work.differing == NULL ? NULL : sv_array_new(sv_dtype_of(SV_U8), 1, &bytes, false);
        if (memory == NULL) {
            PyErr_NoMemory();
            goto done;
        }
        /* The widest elements come first, so that all are aligned. */
        bool keys_first = work.key_size >= work.value_size;
        work.other_keys = (char *)memory->data + (keys_first ? 0 : size * work.value_size);
        work.other_values = (char *)memory->data + (keys_first ? size * work.key_size : 0);
        int failed;
        Py_BEGIN_ALLOW_THREADS
        failed = sort(&work, parts);
        Py_END_ALLOW_THREADS
        if (failed)
            PyErr_NoMemory();
    }
done:
    PyMem_RawFree(work.differing);
    Py_XDECREF(memory);
    if (has_values)
        sv_tensor_view_release(&value_view);
    sv_tensor_view_release(&key_view);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef sorting_functions[] = {
    {"sort_elements", sort_elements, METH_VARARGS,
     PyDoc_STR("sort_elements(keys, values, /)\n--\n\nSort keys in place, and values (or None) with them. The sort is stable.")},
    {NULL, NULL, 0, NULL},
};

int sv_sorting_init(PyObject *module)
{
    return PyModule_AddFunctions(module, sorting_functions);
}
