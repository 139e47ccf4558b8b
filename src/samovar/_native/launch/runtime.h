/* The parts of a launch: images, specializations with their guard programs, kernels, and the context of one launch. */
#ifndef SAMOVAR_RUNTIME_H
#define SAMOVAR_RUNTIME_H

#include "guards/guards.h"
#include "threads/pool.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct sv_context sv_context;

/* --- images */

typedef int32_t (*sv_entry)(sv_context *context, void *block);

/* Compiled code: in its own mapping, created by Image.from_flat, or loaded by another loader, from Image.from_address. */
typedef struct {
    PyObject_HEAD
    uint8_t *code;         /* read-only and executable; NULL if another loader owns it */
    size_t size;           /* of code and constants */
    size_t mapped;         /* of the mapping */
    sv_entry entry;
    uint8_t *functions;    /* see sv_image_function */
    size_t function_count;
    PyObject *keep;        /* what keeps the code of another loader alive, or NULL */
    void *debug_entry;     /* what debugger.c registered with gdb, or NULL */
} sv_image;

extern PyTypeObject sv_image_type;

/* The name of a function, and its position in the code. */
const char *sv_image_function(const sv_image *image, size_t index, size_t *offset, size_t *size);

/* The address of a symbol that images may use, or NULL without an exception. With the GIL. */
void *sv_symbol(const char *name);

/* Register an image with perf and gdb, if the environment requests it. -1 with an exception if that fails. */
int sv_debugger_register(sv_image *image);
void sv_debugger_unregister(sv_image *image);

/* How a compile reached an object; see path.c. */
extern PyTypeObject sv_path_type;

/* --- specializations */

typedef struct {
    _Atomic float cost;    /* nanoseconds per item: the compiler's estimate, later the measured cost */
    _Atomic uint32_t runs;
    uint8_t flags;
} sv_task;

enum { SV_TASK_SPEAKS = 1, SV_TASK_COST_UNKNOWN = 2, SV_TASK_SERIAL = 4, SV_TASK_SECTIONS = 8, SV_TASK_LANES = 4 /* a shift: 2^n units run in SIMD lanes */ };

/* The result of a kernel: a tree in preorder. */
typedef struct {
    enum { SV_NO_RESULT, SV_SCALAR_RESULT, SV_TUPLE_RESULT, SV_MATRIX_RESULT, SV_COMPLEX_RESULT, SV_STATUS_RESULT, SV_STRUCT_RESULT } kind;
    Py_ssize_t parts;   /* children of a tuple or a struct; components of a matrix */
    sv_dtype *dtype;    /* of a scalar or a component, */
    Py_ssize_t offset;  /* and its offset in the block, or that of the first one; also of the number of a status */
    Py_ssize_t columns; /* of a matrix; 0 for a vector */
    PyObject *maker;    /* of a struct: called with a tuple of its members. Owned by the description */
} sv_result;

/* The tree for plain data: None, ("scalar", dtype or its name, offset), ("matrix", shape, dtype, offset), ("tuple", (…)), or
   ("status", offset) alone. NULL with an exception. Release it with PyMem_Free. */
sv_result *sv_results_make(PyObject *description, Py_ssize_t block_size);
/* The object for a tree. */
PyObject *sv_results_build(const sv_result *results, const uint8_t *block);

/* The code of a dtype or its name; -1 with an exception. See program_bytes.c. */
Py_ssize_t sv_dtype_number(PyObject *dtype);

/* Code and everything needed to launch it, created by Specialization(image, program, ...). */
typedef struct {
    PyObject_HEAD
    sv_image *image;
    sv_program program;
    Py_ssize_t block_size;
    sv_result result;   /* the first of the nodes below, inline for fast access */
    PyObject *result_shape; /* what `results` was created from, */
    sv_result *results;
    bool slow_serial;
    Py_ssize_t stack;   /* the bytes of its local arrays, if a stack may be too small for them; otherwise 0 */
    sv_task *tasks;
    int task_count;
    uint16_t *site_values; /* per site: the number of values it carries */
    int site_count;
    _Atomic float entry_nanoseconds; /* measured if slow_serial; negative before that */
    uint32_t number;      /* its number in profiles, 0 before its first profiled launch */
    PyObject *statuses;   /* of a graph with checkpoints: what a launch returns, by the number of the checkpoint that ended it */
    PyObject *labels;     /* a tuple: the label of each checkpoint */
    Py_ssize_t resume;    /* the offset in the block of the number of the checkpoint to start at, or -1 */
    PyObject *task_names;
    PyObject *speak;
    PyObject *fail;
    PyObject *keep;
    PyObject *weakrefs;
} sv_specialization;

extern PyTypeObject sv_specialization_type;

/* The task that code calls by number. If its record has fewer (only a forged one has), it is a task that runs on this thread
   only and has no costs. */
static inline sv_task *sv_task_of(sv_specialization *specialization, int32_t index)
{
    bool known = (uint32_t)index < (uint32_t)specialization->task_count;
    return &specialization->tasks[known ? index : specialization->task_count];
}

/* --- one launch */

/* The maximum number of values of a print; a failure with more than a few allocates memory. */
enum { SV_SITE_VALUES = 4096, SV_FEW_VALUES = 16 };
enum { SV_SITE_MEMORY = -1, SV_SITE_EXCEPTION = -2, SV_SITE_RACES = -3, SV_SITE_SECTIONS = -4 };

/* Memory that a thread keeps between launches. */
typedef struct {
    uint8_t *base;
    size_t capacity;
    size_t used;
    atomic_bool taken; /* in use by a launch; a nested launch does without */
} sv_arena;

typedef struct sv_overflow sv_overflow;
typedef struct sv_races sv_races;
typedef struct sv_prints sv_prints;

/* Lives on the stack of the launching thread; generated code only passes its address around. */
struct sv_context {
    _Atomic int32_t failed; /* a failure is recorded, or about to be by the thread that set this */
    int32_t site;
    sv_specialization *specialization;
    PyThreadState *released; /* not NULL: the GIL is released */
    pthread_t launcher;
    PyObject *exception;     /* of a print callback; only touched by the launching thread */
    sv_arena *arena;         /* of the launching thread */
    _Atomic(sv_prints *) prints; /* not yet delivered to Python; NULL before the first print */
    pthread_mutex_t lock;    /* protects the contents of `prints` and what follows: tasks print and allocate on many threads */
    bool owns_arena;
    int64_t held;            /* when the launching thread first polled, or last released the GIL; 0 before */
    int64_t next_check;      /* when it must check for signals again */
    _Atomic float unchecked; /* estimated nanoseconds of tasks since it last checked */
    sv_races *races;         /* of an instrumented kernel, see races.c */
    sv_overflow *overflow;   /* blocks that did not fit into the arena */
    size_t saved;            /* how much the launching thread had saved before: see sv_push */
    uint64_t *many_values;   /* of the failure, if there are many: to be freed */
    uint64_t values[SV_FEW_VALUES]; /* otherwise */
};

void sv_context_open(sv_context *context, sv_specialization *specialization);

/* End a launch, with the GIL: deliver prints, release memory. -1 with the exception of a failure. */
int sv_context_close(sv_context *context);

/* Release the GIL for the rest of the launch, if it is held. No effect on threads other than the launching one. */
void sv_context_release_gil(sv_context *context);
void sv_context_take_gil(sv_context *context); /* if it was released */

/* Release the GIL if the launch has held it for a while, and handle pending signals, unless that was done recently: Ctrl-C
   ends the launch. No effect on threads other than the launching one. */
void sv_context_check_signals(sv_context *context);

/* Deliver what other threads have printed, if it is much, and check for signals. Only on the launching thread. */
void sv_context_attend(void *context, sv_occasion occasion);

/* The runtime interface of generated code, resolved by symbols.c and documented in docs/launch.md. */
int32_t sv_run(sv_context *context, int32_t task, sv_task_function function, void *frame, int64_t units, int64_t items_per_unit);
int32_t sv_sections(sv_context *context, int32_t task, sv_task_function function, void *frame, int64_t count);
void sv_fail(sv_context *context, int32_t site, const uint64_t *values);
int32_t sv_failed(sv_context *context);
int64_t sv_poll(sv_context *context, int64_t *state);
void sv_print(sv_context *context, int32_t site, const uint64_t *values);
void *sv_scratch(sv_context *context, int64_t bytes);
int64_t sv_threads(sv_context *context);
int64_t sv_thread(sv_context *context);
int64_t sv_clock(sv_context *context);
uint64_t sv_random(sv_context *context);
void sv_push(sv_context *context, uint64_t value);
uint64_t sv_pop(sv_context *context);

/* The kinds of memory accesses, for race detection. A constant that all iterations write is not a race. */
enum { SV_READ, SV_WRITE, SV_ATOMIC, SV_WRITE_CONSTANT };
void sv_races_begin(sv_context *context, int32_t task, int32_t axes, const int64_t *bounds, int32_t granule_bytes);
void sv_races_iteration(sv_context *context, const int64_t *position);
void sv_races_touch(sv_context *context, int32_t site, int32_t kind, const void *address, int32_t bytes, int32_t axes,
                    const int64_t *place, uint64_t constant);
int32_t sv_races_end(sv_context *context);
void sv_sections_begin(sv_context *context, int32_t site, int32_t count, int32_t granule_bytes);
void sv_sections_next(sv_context *context, int32_t section);
int32_t sv_sections_end(sv_context *context);
/* The data races found: (site of the task or of the sections, [(side, side, number of elements)]), a side being (site, kind,
   index, iteration). */
PyObject *sv_races_report(const sv_races *races, int32_t site);
void sv_races_free(sv_races *races);

/* Record that memory was exhausted. */
void sv_fail_memory(sv_context *context);

/* --- kernels */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;
    PyObject *parameters;  /* tuple of interned names */
    PyObject **defaults;   /* per parameter: a strong reference or NULL */
    Py_ssize_t positional_only; /* the number of leading positional-only parameters */
    Py_ssize_t keyword_only;    /* the number of trailing keyword-only parameters */
    PyObject *resolve;
    sv_specialization **specializations; /* strong references, most recently used first */
    int count;
    int capacity;
    int attempt;           /* of the resolve() in progress, from 0 on */
    uint64_t epoch;        /* how often it was cleared: what started before that is outdated */
    PyObject *profiled;    /* the function that Python profilers see instead, or NULL: see profiled_calls.c */
    PyObject *dict;
    PyObject *weakrefs;
} sv_kernel;

extern PyTypeObject sv_kernel_type;

PyObject *sv_kernel_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* Recursive launches inside lookups have exhausted the stack of this thread: end them, and do not retry in the enclosing
   ones. */
void sv_stack_was_exhausted(void);

/* The same, starting at the checkpoint with this label. */
PyObject *sv_kernel_resume(sv_kernel *kernel, PyObject *const *args, Py_ssize_t positional, PyObject *kwnames, PyObject *label);

/* --- recorded launches, see recording.c */

/* A specialization for some arguments, and what is known about them. */
typedef struct {
    sv_specialization *specialization;
    sv_snapshot *snapshot;
} sv_prepared;

/* Find or create the specialization for arguments. -1 with an exception. */
int sv_kernel_prepare(sv_kernel *kernel, PyObject *const *bound, sv_prepared *prepared);

/* Launch it in an open context: 1; 0 if it no longer fits the arguments; -1 with an exception. A failure is stored in the
   context. */
int sv_launch_prepared(const sv_prepared *prepared, PyObject *const *bound, sv_context *context);

/* The step that records kernel calls instead of launching them, if any, and whether it records this thread. */
extern PyObject *sv_recording;
PyObject *sv_record(PyObject *recording, sv_kernel *kernel, PyObject *const *bound);
bool sv_is_recording_here(void);

/* The result of reading a kernel as an attribute of an object: see bound_kernel.c. */
extern PyTypeObject sv_bound_kernel_type;
PyObject *sv_bound_kernel_new(PyObject *kernel, PyObject *self);

/* Insert or move a specialization to the front. -1 with an exception. */
int sv_kernel_insert(sv_kernel *kernel, sv_specialization *specialization);

/* Remove a specialization; false if it is not there. */
bool sv_kernel_remove(sv_kernel *kernel, sv_specialization *specialization);

/* The qualified name: 1 and a new reference, 0 if there is none, -1 with an exception. */
int sv_kernel_name(sv_kernel *kernel, PyObject **name);

/* "module.qualified_name", a new reference. */
PyObject *sv_kernel_path(sv_kernel *kernel);

#endif
