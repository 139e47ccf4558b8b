/* A stable sort by digits, the lowest first, over the pool: keys of any dtype, with values of any dtype or without.

   Keys become unsigned numbers of the same order where they are, and what they were again at the end. Each pass counts the digits of
   a part per thread, and then every thread knows where its elements go. Floats are in the order of IEEE 754: -0 before 0; NaN comes
   last, as in NumPy. */
#include "algorithms.h"

#include <string.h>

enum { DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };
/* Below this, more parts take longer than the sort. */
static const int64_t SMALLEST_PART = 1 << 14;

typedef struct {
    void *keys, *sorted_keys, *values, *sorted_values;
    int64_t *counts; /* of each digit in each part; then, where the first of them goes */
    int64_t size, part;
    int shift;
    sv_dtype_code code;
} sorting;

static int64_t end_of_part(const sorting *work, int64_t part)
{
    int64_t end = (part + 1) * work->part;
    return end < work->size ? end : work->size;
}

/* --- keys as numbers, and back */

#define SIGN(bits) ((uint##bits##_t)1 << ((bits) - 1))

/* Negative floats are in reverse; NaN, of either sign, is beyond infinity. The greatest number stands for it. */
#define FLOATS(code, bits, infinity)                                                                                           \
    case code: {                                                                                                               \
        uint##bits##_t *keys = work->keys;                                                                                     \
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
        uint##bits##_t *keys = work->keys;                                                                                     \
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
    FLOATS(SV_F32, 32, 0x7f800000u)
    FLOATS(SV_F64, 64, 0x7ff0000000000000ull)
    default: break;
    }
}

static void to_numbers(void *frame, int64_t begin, int64_t end)
{
    const sorting *work = frame;
    for (int64_t part = begin; part < end; part++)
        translate(work, part * work->part, end_of_part(work, part), false);
}

static void from_numbers(void *frame, int64_t begin, int64_t end)
{
    const sorting *work = frame;
    for (int64_t part = begin; part < end; part++)
        translate(work, part * work->part, end_of_part(work, part), true);
}

/* --- passes */

#define COUNT(bits)                                                                                                            \
    static void count_##bits(void *frame, int64_t begin, int64_t end)                                                          \
    {                                                                                                                          \
        const sorting *work = frame;                                                                                           \
        const uint##bits##_t *keys = work->keys;                                                                               \
        for (int64_t part = begin; part < end; part++) {                                                                       \
            int64_t counts[DIGITS] = {0};                                                                                      \
            int64_t last = end_of_part(work, part);                                                                            \
            for (int64_t at = part * work->part; at < last; at++)                                                              \
                counts[(keys[at] >> work->shift) & (DIGITS - 1)]++;                                                            \
            memcpy(work->counts + part * DIGITS, counts, sizeof counts);                                                       \
        }                                                                                                                      \
    }
COUNT(8) COUNT(16) COUNT(32) COUNT(64)

#define KEY uint8_t
#define PASS pass_8
#include "sorting_pass.h"
#define KEY uint8_t
#define PASS pass_8_8
#define VALUE uint8_t
#include "sorting_pass.h"
#define KEY uint8_t
#define PASS pass_8_16
#define VALUE uint16_t
#include "sorting_pass.h"
#define KEY uint8_t
#define PASS pass_8_32
#define VALUE uint32_t
#include "sorting_pass.h"
#define KEY uint8_t
#define PASS pass_8_64
#define VALUE uint64_t
#include "sorting_pass.h"
#define KEY uint16_t
#define PASS pass_16
#include "sorting_pass.h"
#define KEY uint16_t
#define PASS pass_16_8
#define VALUE uint8_t
#include "sorting_pass.h"
#define KEY uint16_t
#define PASS pass_16_16
#define VALUE uint16_t
#include "sorting_pass.h"
#define KEY uint16_t
#define PASS pass_16_32
#define VALUE uint32_t
#include "sorting_pass.h"
#define KEY uint16_t
#define PASS pass_16_64
#define VALUE uint64_t
#include "sorting_pass.h"
#define KEY uint32_t
#define PASS pass_32
#include "sorting_pass.h"
#define KEY uint32_t
#define PASS pass_32_8
#define VALUE uint8_t
#include "sorting_pass.h"
#define KEY uint32_t
#define PASS pass_32_16
#define VALUE uint16_t
#include "sorting_pass.h"
#define KEY uint32_t
#define PASS pass_32_32
#define VALUE uint32_t
#include "sorting_pass.h"
#define KEY uint32_t
#define PASS pass_32_64
#define VALUE uint64_t
#include "sorting_pass.h"
#define KEY uint64_t
#define PASS pass_64
#include "sorting_pass.h"
#define KEY uint64_t
#define PASS pass_64_8
#define VALUE uint8_t
#include "sorting_pass.h"
#define KEY uint64_t
#define PASS pass_64_16
#define VALUE uint16_t
#include "sorting_pass.h"
#define KEY uint64_t
#define PASS pass_64_32
#define VALUE uint32_t
#include "sorting_pass.h"
#define KEY uint64_t
#define PASS pass_64_64
#define VALUE uint64_t
#include "sorting_pass.h"

/* By the logarithm of the size of a key; then without values, and by that of the size of a value. */
static const sv_task_function counts[] = {count_8, count_16, count_32, count_64};
static const sv_task_function passes[4][5] = {
    {pass_8, pass_8_8, pass_8_16, pass_8_32, pass_8_64},
    {pass_16, pass_16_8, pass_16_16, pass_16_32, pass_16_64},
    {pass_32, pass_32_8, pass_32_16, pass_32_32, pass_32_64},
    {pass_64, pass_64_8, pass_64_16, pass_64_32, pass_64_64},
};

/* From counts to places: digit by digit, and part by part in each. False if all keys have one digit, and stay where they are. */
static bool place_digits(const sorting *work, int64_t parts)
{
    int64_t place = 0;
    for (int digit = 0; digit < DIGITS; digit++) {
        int64_t before = place;
        for (int64_t part = 0; part < parts; part++) {
            int64_t *count = &work->counts[part * DIGITS + digit], own = *count;
            *count = place;
            place += own;
        }
        if (place - before == work->size)
            return false;
    }
    return true;
}

static void swap(void **one, void **other)
{
    void *first = *one;
    *one = *other;
    *other = first;
}

static void sort(sorting *work, int64_t parts, int key_size, int value_size)
{
    int size = __builtin_ctz((unsigned)key_size);
    sv_task_function pass = passes[size][value_size ? 1 + __builtin_ctz((unsigned)value_size) : 0];
    void *keys = work->keys, *values = work->values;
    sv_run_chunks(to_numbers, work, parts);
    for (work->shift = 0; work->shift < 8 * key_size; work->shift += DIGIT_BITS) {
        sv_run_chunks(counts[size], work, parts);
        if (!place_digits(work, parts))
            continue;
        sv_run_chunks(pass, work, parts);
        swap(&work->keys, &work->sorted_keys);
        swap(&work->values, &work->sorted_values);
    }
    if (work->keys != keys) {
        memcpy(keys, work->keys, (size_t)work->size * (size_t)key_size);
        if (value_size)
            memcpy(values, work->values, (size_t)work->size * (size_t)value_size);
        work->keys = keys;
    }
    sv_run_chunks(from_numbers, work, parts);
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
    int key_size = key_view.dtype->itemsize, value_size = has_values ? value_view.dtype->itemsize : 0;
    sv_array *memory = NULL; /* an array: on huge pages, where 256 places to write to are within reach */
    sorting work = {.keys = key_view.data, .values = has_values ? value_view.data : NULL, .size = size,
                    .part = (size + parts - 1) / parts, .code = key_view.dtype->code};
    if (has_values && value_count != size) {
        PyErr_SetString(PyExc_ValueError, "there is one value for each key");
        goto done;
    }
    if (size > 1) {
        /* The widest elements first, so that all are aligned. */
        work.counts = PyMem_RawMalloc(sizeof *work.counts * DIGITS * (size_t)parts);
        if (work.counts == NULL) {
            PyErr_NoMemory();
            goto done;
        }
        int64_t bytes = size * (key_size + value_size);
        memory = sv_array_new(sv_dtype_of(SV_U8), 1, &bytes, false);
        if (memory == NULL)
            goto done;
        char *room = memory->data;
        bool keys_first = key_size >= value_size;
        work.sorted_keys = keys_first ? room : room + size * value_size;
        work.sorted_values = keys_first ? room + size * key_size : room;
        Py_BEGIN_ALLOW_THREADS
        sort(&work, parts, key_size, value_size);
        Py_END_ALLOW_THREADS
    }
done:
    PyMem_RawFree(work.counts);
    Py_XDECREF(memory);
    if (has_values)
        sv_tensor_view_release(&value_view);
    sv_tensor_view_release(&key_view);
    return PyErr_Occurred() ? NULL : Py_NewRef(Py_None);
}

static PyMethodDef sorting_functions[] = {
    {"sort_elements", sort_elements, METH_VARARGS,
     PyDoc_STR("sort_elements(keys, values, /)\n--\n\nSort keys in place, and values (or None) along with them; stable.")},
    {NULL, NULL, 0, NULL},
};

int sv_sorting_init(PyObject *module)
{
    return PyModule_AddFunctions(module, sorting_functions);
}
