/* What the files of the native room share: one init function per subject, the dtype table, the array object. */
#ifndef SAMOVAR_NATIVE_H
#define SAMOVAR_NATIVE_H

#include "cpython.h" /* first: Python.h decides what the system headers offer */

/* What images and the runtime agree on: it changes when one no longer fits the other. */
#define SV_ABI 2

/* Primitive element types. The codes index the table in dtype.c and appear in images: append, never reorder. */
typedef enum {
    SV_I8, SV_I16, SV_I32, SV_I64,
    SV_U1, SV_U8, SV_U16, SV_U32, SV_U64,
    SV_F16, SV_F32, SV_F64,
    SV_DTYPE_COUNT
} sv_dtype_code;

typedef struct {
    PyObject_HEAD
    sv_dtype_code code;
    char kind;            /* 'i' signed, 'u' unsigned, 'b' boolean, 'f' float */
    uint8_t bits;         /* of the value: 1 for u1 */
    uint8_t itemsize;     /* of an element in memory: 1 for u1 */
    const char *name;     /* "f32" */
    const char *format;   /* buffer protocol format character, as in the struct module */
    const char *typestr;  /* array interface type string, "<f4" */
} sv_dtype;

extern PyTypeObject sv_dtype_type;

#include "tensor_facts.h" /* here: a dtype is one of the facts */

/* The singleton of a code: a borrowed reference that lives as long as the process. */
sv_dtype *sv_dtype_of(sv_dtype_code code);

/* The dtype of a kind ('i', 'u', 'b', 'f') and an element size, or NULL without an exception if there is none. */
sv_dtype *sv_dtype_of_kind(char kind, Py_ssize_t itemsize);

/* The dtype of a buffer-protocol format string in native byte order, or NULL without an exception if there is none. */
sv_dtype *sv_dtype_from_format(const char *format, Py_ssize_t itemsize);

/* Store a Python number as one element: range-checked (OverflowError) for integers, rounded for floats. -1 on error. */
int sv_dtype_store(const sv_dtype *dtype, PyObject *value, void *element);

/* Warns that an integer wraps where it is stored, once for each dtype and place. `where` begins the text, or is empty. */
int sv_warn_of_wrapping(const sv_dtype *dtype, PyObject *value, PyObject *stored, const char *where);

/* Read one element as a new Python object, NULL on error. */
PyObject *sv_dtype_load(const sv_dtype *dtype, const void *element);

/* A float as the bits of an integer dtype: without its fraction, the nearest number where it does not fit, 0 for NaN. */
uint64_t sv_saturated(const sv_dtype *dtype, double value);

/* IEEE binary16, for interpreters and compilers without the type. */
uint16_t sv_half_from_double(double value);
double sv_half_to_double(uint16_t bits);

/* --- arrays */

enum { SV_MAX_NDIM = 16, SV_INLINE_NDIM = 4 };

/* An n-dimensional array in C order. Shape, dtype and memory are fixed for the life of the object. */
/* How the elements of a field lie in memory, see layout.c. */
typedef struct sv_layout sv_layout;

typedef struct {
    PyObject_HEAD
    void *data;            /* the first element; 64-byte aligned when owned, never NULL when owned */
    sv_dtype *dtype;       /* borrowed singleton */
    int ndim;              /* with the axes of the elements */
    int inner;             /* so many axes at the end belong to the elements: 0 numbers, 1 vectors, 2 matrices */
    uint32_t signature;    /* see sv_signature: what a guard compares at once */
    int64_t *shape;        /* ndim entries */
    int64_t size;          /* number of elements */
    PyObject *grad;        /* an sv_array of the same dtype and shape, or NULL */
    PyObject *owner;       /* what keeps foreign memory alive (a memoryview, a capsule), or NULL if the memory is ours */
    PyObject *weakrefs;
    PyObject *attributes;  /* what users have set: a dict, or NULL */
    sv_layout *layout;     /* of a field that has its place, and of an array that is not in C order; NULL otherwise */
    PyObject *form;        /* what guards compare beside the facts: the layout of a field, the order of axes; the layout holds it */
    int64_t *byte_strides; /* ndim entries, for the buffer protocol; of a field in blocks without meaning */
    void *allocation;      /* what to give back: NULL, a heap block, or a mapping if mapped_bytes is not 0 */
    size_t mapped_bytes;
    int64_t inline_axes[2 * SV_INLINE_NDIM];
} sv_array;

extern PyTypeObject sv_tensor_type; /* samovar.Tensor: the base of both, without instances of its own */
extern PyTypeObject sv_array_type;  /* samovar.Ndarray: final, GC-tracked */
extern PyTypeObject sv_field_type;  /* samovar.Field: the same, with a layout that code is made for */
extern PyTypeObject sv_view_type;   /* samovar.BufferView: the same, a part of an array */

/* An array of our own: all of them begin with the same struct. */
static inline bool sv_array_check(PyObject *object)
{
    return Py_IS_TYPE(object, &sv_array_type) || Py_IS_TYPE(object, &sv_field_type) || Py_IS_TYPE(object, &sv_view_type);
}

/* Whether code is made for its layout. An array may have a layout too: one of the members of an array of structs. */
static inline bool sv_array_is_field(const sv_array *array)
{
    return Py_IS_TYPE((PyObject *)array, &sv_field_type);
}

typedef struct {
    SV_TENSOR_FACTS(SV_FACT_FIELD)
} sv_tensor_facts;

/* All facts in one number: the code of the dtype, the rank, and a bit for each flag. One more says whether it must not be written,
   which matters to who writes. */
#define SV_FACT_BIT(fact) (1u << (16 + (fact)))
enum { SV_READONLY_BIT = 1 << 30 };
/* The signature of a field that has no place in memory yet: no guard expects it. */
static const uint32_t SV_UNPLACED = 1u << 31;
_Static_assert(16 + SV_FACT_COUNT < 30, "the facts of a tensor fit in a number");

static inline uint32_t sv_signature(const sv_tensor_facts *facts, bool readonly)
{
#define SV_PACK_t(name) (uint32_t)facts->name->code
#define SV_PACK_n(name) (uint32_t)facts->name << 8
#define SV_PACK_f(name) (facts->name ? SV_FACT_BIT(SV_FACT_##name) : 0)
#define SV_FACT_PACKED(name, type, letter) | SV_PACK_##letter(name)
    return (readonly ? (uint32_t)SV_READONLY_BIT : 0) SV_TENSOR_FACTS(SV_FACT_PACKED);
}

/* The facts about elements that are vectors or matrices. */
static inline uint32_t sv_inner_bits(int inner)
{
    return inner == 1 ? SV_FACT_BIT(SV_FACT_of_vectors) : inner == 2 ? SV_FACT_BIT(SV_FACT_of_matrices) : 0;
}

/* The number of axes without those of the elements. */
static inline int sv_array_rank(const sv_array *array)
{
    return array->ndim - array->inner;
}

/* Whether its elements lie entry by entry: an array of vectors or matrices that is no field, whose layout says it. */
static inline bool sv_array_is_apart(const sv_array *array)
{
    return array->signature & SV_FACT_BIT(SV_FACT_apart);
}

static inline bool sv_array_is_readonly(const sv_array *array)
{
    return array->signature & SV_READONLY_BIT;
}

/* A new array of zeros, or NULL with ValueError (rank, negative extent), MemoryError or TypeError (grad of an integer). */
sv_array *sv_array_new(sv_dtype *dtype, int ndim, const int64_t *shape, bool needs_grad);

/* versions.c: tell the library of a tensor, which counts changes, that it is written. Keeps an exception that is set. Python may run
   here. */
void sv_version_increment(PyObject *object);

/* array_numpy.c: is it exactly an array of NumPy? False as long as none was seen. */
bool sv_is_numpy_array(PyObject *object);

/* A borrowed description of any array a kernel may take: ours, a buffer (NumPy), a torch CPU tensor, another DLPack
   producer. It stays valid until it is released or the object dies, whichever comes first. Only the first ndim entries
   of shape and strides are set. */
typedef struct {
    void *data;
    union { /* the facts, under their own names and as a whole; strides of a contiguous array are those the shape implies */
        struct {
            SV_TENSOR_FACTS(SV_FACT_FIELD)
        };
        sv_tensor_facts facts;
    };
    bool readonly;
    bool holds_buffer;
    PyObject *hold;  /* a reference that release drops, or NULL */
    const sv_layout *layout; /* of what has one: strides have no meaning if it lies in blocks; NULL for everything else */
    int64_t shape[SV_MAX_NDIM];
    int64_t strides[SV_MAX_NDIM]; /* in elements */
    Py_buffer buffer; /* set if holds_buffer */
} sv_tensor_view;

/* 1: an array, described in view, to be released. 0: not an array at all, no exception, nothing to release.
   -1: an array that kernels cannot use, the exception says why; nothing to release. */
int sv_tensor_view_get(PyObject *object, sv_tensor_view *view);
void sv_tensor_view_release(sv_tensor_view *view);

/* Whether the exception that is set is about the object at hand. Others are about the process or the program (an interrupt, no
   memory, no stack), and nobody may put something else in their place. */
static inline bool sv_is_about_object(void)
{
    return PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_MemoryError) &&
           !PyErr_ExceptionMatches(PyExc_RecursionError);
}

/* Every subject adds its types and functions to the module. Each returns 0, or -1 with an exception set. */
int sv_dtype_init(PyObject *module);
int sv_array_init(PyObject *module);
int sv_layout_init(PyObject *module);
int sv_field_init(PyObject *module);
int sv_view_init(PyObject *module);
int sv_algorithms_init(PyObject *module);
int sv_symbols_init(PyObject *module);
int sv_image_init(PyObject *module);
int sv_attributes_init(PyObject *module);
int sv_values_init(PyObject *module);
int sv_overlap_init(PyObject *module);
int sv_scalars_init(PyObject *module);
int sv_context_init(PyObject *module);
int sv_threads_init(PyObject *module);
int sv_specialisation_init(PyObject *module);
int sv_kernel_init(PyObject *module);
int sv_recording_init(PyObject *module);
int sv_profile_init(PyObject *module);
int sv_seen_calls_init(PyObject *module);
int sv_entrance_init(PyObject *module);
/* Takes the frames off what is raised: native code has called Python of ours on behalf of the user's line. */
void sv_leave_frames_out(void);
int sv_standard_input_init(PyObject *module);
int sv_cpu_init(PyObject *module);
int sv_fingerprint_init(PyObject *module);
int sv_plain_digest_init(PyObject *module);
int sv_replay_init(PyObject *module);
int sv_path_init(PyObject *module);
int sv_cache_entry_init(PyObject *module);
int sv_codec_init(PyObject *module);
int sv_plain_form_init(PyObject *module);
int sv_way_digest_init(PyObject *module);
/* Is a str a word, which is interned? So are most that come from files, and then their addresses decide. */
static inline bool sv_text_is(PyObject *text, PyObject *word)
{
    return text == word || (!PyUnicode_CHECK_INTERNED(text) && PyUnicode_Compare(text, word) == 0);
}
/* Two words that stand for some bytes; see checksum.h. */
void sv_checksum(const uint8_t *from, size_t size, uint64_t lanes[2]);
int sv_program_bytes_init(PyObject *module);
int sv_contents_init(PyObject *module);
int sv_tensors_init(PyObject *module);
int sv_numbered_names_init(PyObject *module);
int sv_syntax_tree_init(PyObject *module);
int sv_operation_walk_init(PyObject *module);

/* Plain data as bytes, and the plain data that bytes stand for, see codec.c: a new reference, or NULL with a ValueError. */
PyObject *sv_encode_plain(PyObject *value);
PyObject *sv_decode_plain(const uint8_t *bytes, size_t size);

#endif
