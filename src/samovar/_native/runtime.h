/* What a launch is made of: images, specialisations with their guard programs, kernels, and the context of one launch. */
#ifndef SAMOVAR_RUNTIME_H
#define SAMOVAR_RUNTIME_H

#include "guards.h"
#include "pool.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct sv_context sv_context;

/* --- images */

typedef int32_t (*sv_entry)(sv_context *context, void *block);

/* Compiled code: a mapping of its own, made by Image.from_flat, or that of another loader, from Image.from_address. */
typedef struct {
    PyObject_HEAD
    uint8_t *code;         /* read-only and executable; NULL if another loader holds it */
    size_t size;           /* of code and constants */
    size_t mapped;         /* of the mapping */
    sv_entry entry;
    uint8_t *functions;    /* see sv_image_function */
    size_t function_count;
    PyObject *keep;        /* what keeps the code of another loader, or NULL */
    void *debug_entry;     /* what debugger.c registered with gdb, or NULL */
} sv_image;

extern PyTypeObject sv_image_type;

/* The name of a function, and where it lies in the code. */
const char *sv_image_function(const sv_image *image, size_t index, size_t *offset, size_t *size);

/* The address of a symbol that images may use, or NULL without an exception. With the GIL. */
void *sv_symbol(const char *name);

/* Tell perf and gdb about an image, if the environment asks for it. -1 with an exception if it asks and it cannot be done. */
int sv_debugger_register(sv_image *image);
void sv_debugger_unregister(sv_image *image);

/* Where a compile has found something; see path.c. */
extern PyTypeObject sv_path_type;

/* --- specialisations */

typedef struct {
    _Atomic float cost;    /* nanoseconds per item: the compiler's estimate, then what was measured */
    _Atomic uint32_t runs;
    uint8_t flags;
} sv_task;

enum { SV_TASK_SPEAKS = 1, SV_TASK_COST_UNKNOWN = 2, SV_TASK_SERIAL = 4, SV_TASK_SECTIONS = 8, SV_TASK_LANES = 4 /* a shift: 2^n units run side by side */ };

/* What a kernel returns: a tree in its order, each node before what is in it. */
typedef struct {
    enum { SV_NO_RESULT, SV_SCALAR_RESULT, SV_TUPLE_RESULT, SV_MATRIX_RESULT, SV_STATUS_RESULT, SV_STRUCT_RESULT } kind;
    Py_ssize_t parts;   /* of a tuple or a struct; the entries of a matrix */
    sv_dtype *dtype;    /* of a scalar or an entry, */
    Py_ssize_t offset;  /* and where it, or the first one, is in the block; also of the number of a status */
    Py_ssize_t columns; /* of a matrix; 0 of a vector */
    PyObject *maker;    /* of a struct: called with a tuple of its members. The form has the reference */
} sv_result;

/* The tree that plain data describes: None, ("scalar", dtype or its name, offset), ("matrix", shape, dtype, offset),
   ("tuple", (…)), or ("status", offset) alone. NULL with an exception. To be given back with PyMem_Free. */
sv_result *sv_results_make(PyObject *form, Py_ssize_t block_size);
/* The object that a tree stands for. */
PyObject *sv_results_build(const sv_result *results, const uint8_t *block);

/* Of a dtype or its name; -1 with an exception. See program_bytes.c. */
Py_ssize_t sv_dtype_number(PyObject *dtype);

/* Code and everything needed to launch it, made by Specialisation(image, program, ...). */
typedef struct {
    PyObject_HEAD
    sv_image *image;
    sv_program program;
    Py_ssize_t block_size;
    sv_result result;   /* the first of the nodes below, where it is found at once */
    PyObject *result_form; /* what `results` was made of, */
    sv_result *results;
    bool slow_serial;
    Py_ssize_t stack;   /* the bytes of its local arrays, where a stack may be too short for them; else 0 */
    sv_task *tasks;
    int task_count;
    uint16_t *site_values; /* per site: how many values it carries */
    int site_count;
    _Atomic float entry_nanoseconds; /* measured if slow_serial; negative before that */
    uint32_t number;      /* by which profiles know it, 0 before its first launch that one has watched */
    PyObject *statuses;   /* of a graph with checkpoints: what a launch returns, by the number of the checkpoint that ended it */
    PyObject *labels;     /* a tuple: the label of each checkpoint */
    Py_ssize_t resume;    /* where in the block the number of the checkpoint is that a launch begins at; -1: nowhere */
    PyObject *task_names;
    PyObject *speak;
    PyObject *fail;
    PyObject *keep;
    PyObject *weakrefs;
} sv_specialisation;

extern PyTypeObject sv_specialisation_type;

/* The task that code calls by a number. Where its record has fewer, which only a forged one has, it is one that runs on this thread
   alone, and is asked about nothing. */
static inline sv_task *sv_task_of(sv_specialisation *specialisation, int32_t index)
{
    bool known = (uint32_t)index < (uint32_t)specialisation->task_count;
    return &specialisation->tasks[known ? index : specialisation->task_count];
}

/* --- one launch */

/* A print carries so many values at most; a failure with more than a few takes memory for them. */
enum { SV_SITE_VALUES = 4096, SV_FEW_VALUES = 16 };
enum { SV_SITE_MEMORY = -1, SV_SITE_EXCEPTION = -2, SV_SITE_RACES = -3, SV_SITE_SECTIONS = -4 };

/* Memory that a thread keeps from launch to launch. */
typedef struct {
    uint8_t *base;
    size_t capacity;
    size_t used;
    atomic_bool taken; /* a launch uses it; one inside that launch goes without */
} sv_arena;

typedef struct sv_overflow sv_overflow;
typedef struct sv_races sv_races;
typedef struct sv_prints sv_prints;

/* Lives on the stack of the launching thread; generated code only passes its address on. */
struct sv_context {
    _Atomic int32_t failed; /* a failure is recorded, or about to be by the thread that set this */
    int32_t site;
    sv_specialisation *specialisation;
    PyThreadState *released; /* not NULL: the GIL is released */
    pthread_t launcher;
    PyObject *exception;     /* of a print callback; only touched by the launching thread */
    sv_arena *arena;         /* of the launching thread */
    _Atomic(sv_prints *) prints; /* what is not yet handed to Python; NULL before the first print */
    pthread_mutex_t lock;    /* of what is in `prints`, and of what follows: tasks print and ask for memory from many threads */
    bool owns_arena;
    int64_t held;            /* when the launching thread has first asked, or last been without the GIL; 0 before */
    int64_t look_at;         /* when it is to look for signals again */
    _Atomic float unseen;    /* nanoseconds of tasks since it last looked, as they are expected */
    sv_races *races;         /* of a kernel that is watched, see races.c */
    sv_overflow *overflow;   /* blocks that found no room in the arena */
    uint64_t *many_values;   /* of the failure, if there are many: to be freed */
    uint64_t values[SV_FEW_VALUES]; /* else */
};

void sv_context_open(sv_context *context, sv_specialisation *specialisation);

/* Ends a launch, with the GIL: hands over prints, gives back memory. -1 with the exception of a failure. */
int sv_context_close(sv_context *context);

/* Release the GIL for the rest of the launch, if it is held. Nothing happens on other threads than the launching one. */
void sv_context_release_gil(sv_context *context);
void sv_context_take_gil(sv_context *context); /* if it was released */

/* Give up the GIL if the launch has had it for a while, and handle signals that have arrived, unless that was done a moment ago: Ctrl-C
   ends the launch. Nothing happens on other threads than the launching one. */
void sv_context_look(sv_context *context);

/* Hand over what other threads have printed, if it is much, and look for signals. Only on the launching thread. */
void sv_context_attend(void *context, sv_occasion occasion);

/* What generated code calls, found by symbols.c. docs/launch.md says what each does. */
int32_t sv_run(sv_context *context, int32_t task, sv_task_function function, void *frame, int64_t units, int64_t items_per_unit);
int32_t sv_sections(sv_context *context, int32_t task, sv_task_function function, void *frame, int64_t count);
void sv_fail(sv_context *context, int32_t site, const uint64_t *values);
int32_t sv_failed(sv_context *context);
int64_t sv_poll(sv_context *context, int64_t *state);
void sv_print(sv_context *context, int32_t site, const uint64_t *values);
void *sv_scratch(sv_context *context, int64_t bytes);
int64_t sv_threads(sv_context *context);
uint64_t sv_random(sv_context *context);

/* What an access to memory does, for who looks for races. A constant that all write does no harm. */
enum { SV_READ, SV_WRITE, SV_ATOMIC, SV_WRITE_CONSTANT };
void sv_races_begin(sv_context *context, int32_t task, int32_t axes, const int64_t *bounds, int32_t granule_bytes);
void sv_races_iteration(sv_context *context, const int64_t *position);
void sv_races_touch(sv_context *context, int32_t site, int32_t kind, const void *address, int32_t bytes, int32_t axes,
                    const int64_t *place, uint64_t constant);
int32_t sv_races_end(sv_context *context);
void sv_sections_begin(sv_context *context, int32_t site, int32_t count, int32_t granule_bytes);
void sv_sections_next(sv_context *context, int32_t section);
int32_t sv_sections_end(sv_context *context);
/* What was found: (site of the task or of the sections, [(side, side, number of elements)]), a side being (site, kind, index,
   iteration). */
PyObject *sv_races_report(const sv_races *races, int32_t site);
void sv_races_free(sv_races *races);

/* Record that there was no memory. */
void sv_fail_memory(sv_context *context);

/* --- kernels */

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *function;
    PyObject *parameters;  /* tuple of interned names */
    PyObject **defaults;   /* per parameter: a strong reference or NULL */
    Py_ssize_t positional_only; /* so many parameters at the beginning take no keyword */
    Py_ssize_t keyword_only;    /* so many at the end take nothing else */
    PyObject *resolve;
    sv_specialisation **specialisations; /* strong references, most recently used first */
    int count;
    int capacity;
    int attempt;           /* of the resolve() that is under way, from 0 on */
    uint64_t epoch;        /* how often it was cleared: what was begun before that is outdated */
    PyObject *seen;        /* the function that profilers of Python see instead, or NULL: see seen_calls.c */
    PyObject *dict;
    PyObject *weakrefs;
} sv_kernel;

extern PyTypeObject sv_kernel_type;

PyObject *sv_kernel_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* Launches inside of lookups have used up the stack of this thread: they end, and what is around them does not try again. */
void sv_stack_was_used_up(void);

/* The same, from the checkpoint with this label on. */
PyObject *sv_kernel_resume(sv_kernel *kernel, PyObject *const *args, Py_ssize_t positional, PyObject *kwnames, PyObject *label);

/* --- recorded launches, see recording.c */

/* A specialisation for some arguments, and what is known of them. */
typedef struct {
    sv_specialisation *specialisation;
    sv_snapshot *snapshot;
} sv_prepared;

/* Find or make what would be launched for arguments. -1 with an exception. */
int sv_kernel_prepare(sv_kernel *kernel, PyObject *const *bound, sv_prepared *prepared);

/* Launch it in an open context: 1; 0 if it is not for these arguments any more; -1 with an exception. A failure is in the context. */
int sv_launch_prepared(const sv_prepared *prepared, PyObject *const *bound, sv_context *context);

/* The recording that calls of kernels go to instead of being launched, if there is one, and for this thread. */
extern PyObject *sv_recording;
PyObject *sv_record(PyObject *recording, sv_kernel *kernel, PyObject *const *bound);
bool sv_is_recording_here(void);

/* What reading a kernel as an attribute of an object gives: see bound_kernel.c. */
extern PyTypeObject sv_bound_kernel_type;
PyObject *sv_bound_kernel_new(PyObject *kernel, PyObject *self);

/* Put a specialisation first, also if it is there already. -1 with an exception. */
int sv_kernel_insert(sv_kernel *kernel, sv_specialisation *specialisation);

/* Forget a specialisation; false if it is not there. */
bool sv_kernel_remove(sv_kernel *kernel, sv_specialisation *specialisation);

/* The qualified name: 1 and a new reference, 0 if there is none, -1 with an exception. */
int sv_kernel_name(sv_kernel *kernel, PyObject **name);

/* "module.qualified_name", a new reference. */
PyObject *sv_kernel_path(sv_kernel *kernel);

#endif
