/* What a launch is made of: images, guard programs, specialisations, kernels, and the context of one launch. */
#ifndef SAMOVAR_RUNTIME_H
#define SAMOVAR_RUNTIME_H

#include "native.h"
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

/* --- guard programs */

typedef enum {
    SV_LOAD_PARAMETER, SV_LOAD_CELL, SV_LOAD_GLOBAL, SV_LOAD_BUILTIN, SV_LOAD_ATTRIBUTE, SV_LOAD_INHERITED,
    SV_LOAD_ITEM, SV_LOAD_CONSTANT, SV_LOAD_FUNCTION,
    SV_GUARD_IS, SV_GUARD_WEAK, SV_GUARD_TYPE, SV_GUARD_VALUE, SV_GUARD_METHOD, SV_GUARD_ABSENT_ATTRIBUTE,
    SV_GUARD_ABSENT_GLOBAL, SV_GUARD_LENGTH, SV_GUARD_KEYS, SV_GUARD_CODE, SV_GUARD_DEFAULTS, SV_GUARD_CONTENTS, SV_GUARD_SAME_FUNCTION, SV_STABLE, SV_GUARD_TENSOR, SV_GUARD_DISJOINT,
    SV_FILL_ARRAY, SV_FILL_SCALAR,
} sv_operation;

/* The registers of a `disjoint` guard, in the order that the addresses of their arrays had at the last launch: it is nearly
   always the same again, which saves sorting. */
typedef struct {
    int count;
    struct {
        uint16_t number;
        bool written;
    } registers[];
} sv_overlap;

/* What an instruction needs, decoded once. Objects are strong references; which fields count depends on the operation. */
typedef struct {
    uint8_t operation;
    bool flag;           /* tensor: contiguous; array: strided; disjoint: expected; loads: the register is borrowed */
    union {
        uint8_t access;  /* attribute: see attributes.c, and so for `moves`, `version` and `seen` */
        uint8_t fill;    /* tensor: what goes into the block as soon as the guard holds, at `number` */
    };
    uint8_t moves;
    uint16_t destination;
    uint16_t source;
    uint16_t view;       /* of the array in `source`; inherited: the register of the class */
    bool stable;         /* depends on stable arguments only */
    union {
        uint32_t signature; /* tensor: what the facts must be, */
        uint32_t version;
    };
    uint32_t mask;       /* in these bits */
    Py_ssize_t number;   /* parameter: index; length: n; fills: offset; attribute: position or offset */
    union {
        uintptr_t seen;
        sv_overlap *overlap; /* of a `disjoint` */
    };
    PyObject *object;    /* cell, mapping, expected object, code, dtype */
    PyObject *name;      /* attribute, key, or the name in a message */
    PyObject *builtins;  /* of a `builtin` */
} sv_instruction;

/* What a `tensor` guard fills in: nothing, address and shape, or strides as well. */
enum { SV_NO_FILL, SV_FILL_SHAPE, SV_FILL_STRIDES };

/* What is known below stable arguments, see stable.c. */
typedef struct {
    int references;       /* of the program and of the launches that run on it */
    int root_count;
    int register_count;
    int owned_count;
    int todo_count;
    PyObject **roots;     /* the arguments, strong references */
    PyObject **registers; /* what skipped loads have found, strong references; NULL for the others */
    uint16_t *owned;      /* registers that the other loads own */
    uint32_t *todo;       /* the instructions that are not skipped */
    uint8_t *block;       /* the argument block as it was */
} sv_snapshot;

enum { SV_SNAPSHOTS = 4 };

typedef struct {
    sv_instruction *instructions; /* loads and guards in their order, then scalars: a number may raise, a miss must not */
    Py_ssize_t count;
    int register_count;
    int view_count;  /* registers that hold arrays */
    int parameter_count; /* 1 + the highest parameter read */
    int owned_count; /* registers whose reference the launch drops */
    uint16_t *owned;
    uint16_t *view_of_register; /* per register: the view of its array */
    Py_ssize_t block_size;
    int root_count;
    uint16_t *roots; /* the parameters whose members are stable */
    sv_snapshot *snapshots[SV_SNAPSHOTS]; /* the most recent one first, NULL at the end */
} sv_program;

struct sv_registers;

/* Attributes, in attributes.c: 1 found, a new reference; 0 absent; -1 another exception. */
int sv_optional_attribute(PyObject *object, PyObject *name, PyObject **result);
int sv_load_attribute(sv_instruction *load, PyObject *source, PyObject **result);

/* Snapshots, in stable.c. What is found is a new reference, to be released. */
void sv_program_mark_stable(sv_program *program);
sv_snapshot *sv_snapshot_find(sv_program *program, PyObject *const *arguments);
void sv_snapshot_take(sv_program *program, PyObject *const *arguments, const struct sv_registers *state);
void sv_snapshot_release(sv_snapshot *snapshot);
int sv_snapshot_traverse(const sv_snapshot *snapshot, visitproc visit, void *arg);

/* Compile the Python form of a program. Operands that are (..., what, number) are found in the list `objects`, other (..., what,
   …) by calling `resolve`, if these are not NULL. -1 with an exception; the program is then empty. */
int sv_program_compile(sv_program *program, PyObject *source, int registers, Py_ssize_t block_size, PyObject *objects,
                       PyObject *resolve);
/* Everything that it refers to, in its order: a list. */
PyObject *sv_program_operands(const sv_program *program);
int sv_program_traverse(const sv_program *program, visitproc visit, void *arg);
void sv_program_free(sv_program *program);

enum { SV_STACK_REGISTERS = 256, SV_STACK_VIEWS = 12 };

/* The registers of one launch, and the views of the foreign arrays in them. */
typedef struct sv_registers {
    sv_snapshot *snapshot; /* that the launch runs on, or NULL */
    PyObject **registers;
    sv_tensor_view *views; /* NULL until the first foreign array if there are too many for the stack */
    uint8_t *viewed;       /* per view: it is to be released */
    uint8_t *block;
    PyObject *stack_registers[SV_STACK_REGISTERS];
    uint8_t stack_viewed[SV_STACK_REGISTERS];
    sv_tensor_view stack_views[SV_STACK_VIEWS];
} sv_registers;

/* Make room, run the program over the bound arguments, and fill the block. 1: all guards hold. 0: a miss. -1: an exception.
   To be followed by sv_registers_release in every case. */
int sv_program_run(sv_program *program, PyObject *const *arguments, sv_registers *registers, uint8_t *block);
void sv_registers_release(const sv_program *program, sv_registers *registers);

/* The same exact type and the same value, floats by bits. 1, 0, or -1 with an exception. */
int sv_same_value(PyObject *actual, PyObject *expected);

/* Does a weak reference lead to this object? 1, 0, or -1 with an exception. */
int sv_is_referent(PyObject *object, PyObject *reference);

/* Is an object as it was described? See contents.c. 1, 0, or -1 with an exception. */
int sv_same_contents(PyObject *object, PyObject *description);

/* Does no written array overlap itself, another of them, or one of the others? Two sequences; -1 with an exception. */
int sv_are_disjoint(PyObject *written, PyObject *others);

/* Where a compile has found something; see path.c. */
extern PyTypeObject sv_path_type;

/* --- specialisations */

typedef struct {
    _Atomic float cost;    /* nanoseconds per item: the compiler's estimate, then what was measured */
    _Atomic uint32_t runs;
    uint8_t flags;
} sv_task;

enum { SV_TASK_SPEAKS = 1, SV_TASK_COST_UNKNOWN = 2 };

typedef struct {
    sv_dtype *dtype;
    Py_ssize_t offset;
} sv_result;

/* Code and everything needed to launch it, made by Specialisation(image, program, ...). */
typedef struct {
    PyObject_HEAD
    sv_image *image;
    sv_program program;
    Py_ssize_t block_size;
    sv_result *results;
    int result_count;
    bool results_tuple;
    bool slow_serial;
    sv_task *tasks;
    int task_count;
    uint8_t *site_values; /* per site: how many values it carries */
    int site_count;
    _Atomic float entry_nanoseconds; /* measured if slow_serial; negative before that */
    PyObject *task_names;
    PyObject *speak;
    PyObject *fail;
    PyObject *keep;
    PyObject *weakrefs;
} sv_specialisation;

extern PyTypeObject sv_specialisation_type;

/* --- one launch */

enum { SV_SITE_VALUES = 64, SV_SITE_MEMORY = -1, SV_SITE_EXCEPTION = -2 };

/* Memory that a thread keeps from launch to launch. */
typedef struct {
    uint8_t *base;
    size_t capacity;
    size_t used;
    atomic_bool taken; /* a launch uses it; one inside that launch goes without */
} sv_arena;

typedef struct sv_overflow sv_overflow;

/* Lives on the stack of the launching thread; generated code only passes its address on. */
struct sv_context {
    _Atomic int32_t failed; /* a failure is recorded, or about to be by the thread that set this */
    int32_t site;
    sv_specialisation *specialisation;
    PyThreadState *released; /* not NULL: the GIL is released */
    pthread_t launcher;
    PyObject *exception;     /* of a print callback; only touched with the GIL */
    sv_arena *arena;         /* of the launching thread */
    pthread_mutex_t lock;    /* of what follows: tasks print and ask for memory from many threads */
    bool owns_arena;
    sv_overflow *overflow;   /* blocks that found no room in the arena */
    uint8_t *records;        /* print records not yet handed to Python */
    size_t records_used;
    size_t records_capacity;
    uint64_t values[SV_SITE_VALUES]; /* of the failure */
};

void sv_context_open(sv_context *context, sv_specialisation *specialisation);

/* Ends a launch, with the GIL: hands over prints, gives back memory. -1 with the exception of a failure. */
int sv_context_close(sv_context *context);

/* Release the GIL for the rest of the launch, if it is held. Only on the launching thread. */
void sv_context_release_gil(sv_context *context);

/* What generated code calls, found by symbols.c. docs/launch.md says what each does. */
int32_t sv_run(sv_context *context, int32_t task, sv_task_function function, void *frame, int64_t units, int64_t items_per_unit);
void sv_elements(void *frame, int64_t begin, int64_t end);
void sv_fail(sv_context *context, int32_t site, const uint64_t *values);
int32_t sv_failed(sv_context *context);
void sv_print(sv_context *context, int32_t site, const uint64_t *values);
void *sv_scratch(sv_context *context, int64_t bytes);
int64_t sv_threads(sv_context *context);
uint64_t sv_random(sv_context *context);

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
    uint64_t epoch;        /* how often it was cleared: what was begun before that is outdated */
    PyObject *dict;
    PyObject *weakrefs;
} sv_kernel;

extern PyTypeObject sv_kernel_type;

PyObject *sv_kernel_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames);

/* Put a specialisation first, also if it is there already. -1 with an exception. */
int sv_kernel_insert(sv_kernel *kernel, sv_specialisation *specialisation);

/* Forget a specialisation; false if it is not there. */
bool sv_kernel_remove(sv_kernel *kernel, sv_specialisation *specialisation);

/* "module.qualified_name", a new reference. */
PyObject *sv_kernel_path(sv_kernel *kernel);

#endif
