/* Declarations shared by all of the extension: one init function per subject, the dtype table, the array object, errors. */
#ifndef SAMOVAR_NATIVE_H
#define SAMOVAR_NATIVE_H

#include "cpython.h" /* first: Python.h decides what the system headers offer */

/* The interface between images and the runtime. Increment it when they become incompatible. */
#define SV_ABI 2

/* Primitive element types. The codes index the table in dtype.c and appear in images: append, never reorder. */
typedef enum {
    SV_I8, SV_I16, SV_I32, SV_I64,
    SV_U1, SV_U8, SV_U16, SV_U32, SV_U64,
    SV_F16, SV_F32, SV_F64,
    SV_C64, SV_C128,
    SV_BF16,
    SV_DTYPE_COUNT
} sv_dtype_code;

typedef struct {
    PyObject_HEAD
    sv_dtype_code code;
    char kind;            /* 'i' signed, 'u' unsigned, 'b' boolean, 'f' float, 'c' complex */
    uint8_t bits;         /* of the value: 1 for u1 */
    uint8_t itemsize;     /* of an element in memory: 1 for u1 */
    const char *name;     /* "f32" */
    const char *format;   /* of the buffer protocol: as in the struct module, "Zd" for complex numbers */
    const char *typestr;  /* array interface type string, "<f4" */
} sv_dtype;

extern PyTypeObject sv_dtype_type;

#include "guards/tensor_facts.h" /* here: a dtype is one of the facts */

/* The singleton of a code: a borrowed reference that lives as long as the process. */
sv_dtype *sv_dtype_of(sv_dtype_code code);

/* The dtype of a kind and an element size, or NULL without an exception if there is none. */
sv_dtype *sv_dtype_of_kind(char kind, Py_ssize_t itemsize);

/* The dtype of a buffer-protocol format string in native byte order, or NULL without an exception if there is none. */
sv_dtype *sv_dtype_from_format(const char *format, Py_ssize_t itemsize);

/* How many numbers an element consists of: two of half its size for a complex number. Kernels see them as a last dimension. */
static inline int sv_dtype_parts(const sv_dtype *dtype)
{
    return dtype->kind == 'c' ? 2 : 1;
}

/* Store a Python number as one element: range-checked (OverflowError) for integers, rounded for floats. -1 on error. */
int sv_dtype_store(const sv_dtype *dtype, PyObject *value, void *element);

/* Warn that an integer wraps when stored, once per dtype and location. `where` is a prefix of the message, or empty. */
int sv_warn_of_wrapping(const sv_dtype *dtype, PyObject *value, PyObject *stored, const char *where);

/* Read one element as a new Python object, NULL on error. */
PyObject *sv_dtype_load(const sv_dtype *dtype, const void *element);

/* A float as the bits of an integer dtype: truncated, saturated if it does not fit, 0 for NaN. */
uint64_t sv_saturated(const sv_dtype *dtype, double value);

/* IEEE binary16, for interpreters and compilers without the type. */
uint16_t sv_half_from_double(double value);
double sv_half_to_double(uint16_t bits);

/* bfloat16: the upper half of an f32. Rounds to nearest even; NaN stays one, and what is too large becomes infinite. */
uint16_t sv_bfloat_from_double(double value);
double sv_bfloat_to_double(uint16_t bits);

/* Whether elements are floats of 16 bits, f16 or bf16, which native code computes with as f32 or f64. */
static inline bool sv_dtype_is_short_float(const sv_dtype *dtype)
{
    return dtype->kind == 'f' && dtype->itemsize == 2;
}

/* --- arrays */

enum { SV_MAX_NDIM = 16, SV_INLINE_NDIM = 4 };

/* The memory layout of the elements of a field, see layout.c. */
typedef struct sv_layout sv_layout;

typedef struct {
    PyObject_HEAD
    void *data;            /* the first element; 64-byte aligned when owned, never NULL when owned */
    sv_dtype *dtype;       /* borrowed singleton */
    int ndim;              /* including the dimensions of elements */
    int inner;             /* the number of trailing dimensions that belong to the elements: 0 scalars, 1 vectors, 2 matrices */
    uint32_t signature;    /* see sv_signature: what a guard compares in one step */
    uint32_t version;      /* grows when Python writes to it, and when kernels do while a tape wants to know */
    uint32_t elsewhere;    /* the last tape on whose time another thread's launch has written to it */
    uint32_t exports;      /* others that may write to its memory: buffers as long as they exist, other exports for good */
    int64_t *shape;        /* ndim entries */
    int64_t size;          /* number of elements */
    PyObject *grad;        /* an sv_array of the same dtype and shape, or NULL */
    PyObject *dual;        /* the same for forward mode (runtime/tangents.py) */
    PyObject *owner;       /* what keeps foreign memory alive (a memoryview, a capsule), or NULL if the memory is ours */
    PyObject *weakrefs;
    PyObject *attributes;  /* attributes set by users: a dict, or NULL */
    sv_layout *layout;     /* of a placed field, and of an array that is not in C order; NULL otherwise */
    PyObject *guarded_layout; /* what guards compare beside the facts: the layout of a field, the order of dimensions; owned by the layout */
    int64_t *byte_strides; /* ndim entries, for the buffer protocol; meaningless for a blocked field */
    void *allocation;      /* what to free: NULL, a heap block, or a mapping if mapped_bytes is not 0 */
    size_t mapped_bytes;
    int64_t inline_axes[2 * SV_INLINE_NDIM];
} sv_array;

extern PyTypeObject sv_tensor_type; /* samovar.Tensor: the base class, without instances of its own */
extern PyTypeObject sv_array_type;  /* samovar.Ndarray: final, GC-tracked */
extern PyTypeObject sv_field_type;  /* samovar.Field: an array whose layout is a compile-time constant */
extern PyTypeObject sv_view_type;   /* samovar.BufferView: a slice of an array */

/* Whether it is one of our arrays. All of them begin with the same struct. */
static inline bool sv_array_check(PyObject *object)
{
    return Py_IS_TYPE(object, &sv_array_type) || Py_IS_TYPE(object, &sv_field_type) || Py_IS_TYPE(object, &sv_view_type);
}

/* Whether kernels are specialized on its layout. Arrays may have a layout too: those that are members of an array of
   structs. */
static inline bool sv_array_is_field(const sv_array *array)
{
    return Py_IS_TYPE((PyObject *)array, &sv_field_type);
}

typedef struct {
    SV_TENSOR_FACTS(SV_FACT_FIELD)
} sv_tensor_facts;

/* All facts in one number: the dtype code, the rank, and a bit per flag. One more bit marks read-only memory, which only
   guards of written arrays compare. */
#define SV_FACT_BIT(fact) (1u << (16 + (fact)))
enum { SV_READONLY_BIT = 1 << 30 };
/* The signature of a field that is not placed yet: no guard expects it. */
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

/* The facts that mark elements as vectors or matrices. */
static inline uint32_t sv_inner_bits(int inner)
{
    return inner == 1 ? SV_FACT_BIT(SV_FACT_of_vectors) : inner == 2 ? SV_FACT_BIT(SV_FACT_of_matrices) : 0;
}

/* The number of dimensions, without those of the elements. */
static inline int sv_array_rank(const sv_array *array)
{
    return array->ndim - array->inner;
}

/* Whether its elements are stored as a struct of arrays (SoA): an array of vectors or matrices with a layout that is not a
   field. */
static inline bool sv_array_is_soa(const sv_array *array)
{
    return array->signature & SV_FACT_BIT(SV_FACT_soa);
}

static inline bool sv_array_is_readonly(const sv_array *array)
{
    return array->signature & SV_READONLY_BIT;
}

/* A new array of zeros, or NULL with ValueError (rank, negative extent), MemoryError or TypeError (grad of an integer). */
sv_array *sv_array_new(sv_dtype *dtype, int ndim, const int64_t *shape, bool needs_grad);

/* The array whose memory a view, or a reshaped array, shares; itself for others. It counts changes for all of them. */
sv_array *sv_array_base(sv_array *array);
/* Whether a tape, or forward mode, takes the launches on this thread; see launch/taping.c. */
bool sv_is_taped_here(void);

/* The memory of an array goes to another library, which may write to it from now on. */
void sv_array_exported(sv_array *array);

/* tensor_versions.c: increment the version counter of a tensor that was written. Keeps a pending exception. Python may run
   here. */
void sv_version_increment(PyObject *object);

/* array_numpy.c: whether it is exactly a numpy.ndarray. False until the first one was seen. */
bool sv_is_numpy_array(PyObject *object);

/* A borrowed description of any array a kernel may take: ours, a buffer (NumPy), a torch CPU tensor, another DLPack
   producer. It stays valid until it is released or the object dies, whichever comes first. Only the first ndim entries
   of shape and strides are set. */
typedef struct {
    void *data;
    union { /* the facts, by name and as a whole; a contiguous array has the strides that its shape implies */
        struct {
            SV_TENSOR_FACTS(SV_FACT_FIELD)
        };
        sv_tensor_facts facts;
    };
    bool readonly;
    bool holds_buffer;
    PyObject *hold;  /* a reference that release drops, or NULL */
    const sv_layout *layout; /* of an array that has one (strides are meaningless if it is blocked); NULL otherwise */
    int64_t shape[SV_MAX_NDIM];
    int64_t strides[SV_MAX_NDIM]; /* in elements */
    Py_buffer buffer; /* set if holds_buffer */
} sv_tensor_view;

/* 1: an array, described in view, to be released. 0: not an array, no exception, nothing to release. -1: an unsupported
   array, the exception says why; nothing to release. */
int sv_tensor_view_get(PyObject *object, sv_tensor_view *view);
void sv_tensor_view_release(sv_tensor_view *view);

/* Whether the pending exception is about the object at hand. Others concern the process or the program (an interrupt, no
   memory, no stack) and must not be replaced. */
static inline bool sv_is_about_object(void)
{
    return PyErr_ExceptionMatches(PyExc_Exception) && !PyErr_ExceptionMatches(PyExc_MemoryError) &&
           !PyErr_ExceptionMatches(PyExc_RecursionError);
}

/* A class of samovar.errors: a new reference, or NULL with an exception. Python may run here. */
PyObject *sv_error_class(const char *name);

/* Raise the named class of samovar.errors with a formatted message. Return NULL. Python may run here. */
void *sv_refuse(const char *name, const char *format, ...);

/* Each subject adds its types and functions to the module. Returns 0, or -1 with an exception. */
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
int sv_sparse_init(PyObject *module);
int sv_specialization_init(PyObject *module);
int sv_kernel_init(PyObject *module);
int sv_recording_init(PyObject *module);
int sv_profile_init(PyObject *module);
int sv_profiled_calls_init(PyObject *module);
int sv_taping_init(PyObject *module);
int sv_array_boxes_init(PyObject *module);
int sv_api_boundary_init(PyObject *module);
/* Remove our own frames from the traceback of the pending exception, so that it ends at the user's line. */
void sv_trim_traceback(void);
int sv_standard_input_init(PyObject *module);
int sv_cpu_init(PyObject *module);
int sv_fingerprint_init(PyObject *module);
int sv_plain_digest_init(PyObject *module);
int sv_replay_init(PyObject *module);
int sv_path_init(PyObject *module);
int sv_cache_entry_init(PyObject *module);
int sv_codec_init(PyObject *module);
int sv_plain_schema_init(PyObject *module);
int sv_tree_path_digest_init(PyObject *module);
/* Whether a str equals an interned word. Most strs from files are interned too, so addresses usually decide. */
static inline bool sv_text_is(PyObject *text, PyObject *word)
{
    return text == word || (!PyUnicode_CHECK_INTERNED(text) && PyUnicode_Compare(text, word) == 0);
}
/* The two words of a checksum of some bytes; see checksum.h. */
void sv_checksum(const uint8_t *from, size_t size, uint64_t lanes[2]);
int sv_program_bytes_init(PyObject *module);
int sv_deep_values_init(PyObject *module);
int sv_tensors_init(PyObject *module);
int sv_numbered_names_init(PyObject *module);
int sv_syntax_tree_init(PyObject *module);

/* Encode plain data as bytes, and decode it, see codec.c: a new reference, or NULL with a ValueError. */
PyObject *sv_encode_plain(PyObject *value);
PyObject *sv_decode_plain(const uint8_t *bytes, size_t size);

#endif
