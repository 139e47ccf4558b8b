/* Guard programs in memory: their instructions, the state of a run, and the functions that implement them. A program is
   compiled in program.c and run in guards.c. */
#ifndef SAMOVAR_GUARDS_H
#define SAMOVAR_GUARDS_H

#include "launch/block.h"
#include "native.h"

#include <string.h>

typedef enum {
    SV_LOAD_PARAMETER, SV_LOAD_CELL, SV_LOAD_GLOBAL, SV_LOAD_BUILTIN, SV_LOAD_ATTRIBUTE, SV_LOAD_INHERITED,
    SV_LOAD_ITEM, SV_LOAD_CONSTANT, SV_LOAD_TUPLE, SV_LOAD_CALL, SV_LOAD_FUNCTION,
    SV_GUARD_IS, SV_GUARD_TYPE, SV_GUARD_VALUE, SV_GUARD_METHOD, SV_GUARD_ABSENT_ATTRIBUTE,
    SV_GUARD_ABSENT_GLOBAL, SV_GUARD_LENGTH, SV_GUARD_KEYS, SV_GUARD_CONTENTS,
    SV_GUARD_SAME_FUNCTION, SV_STABLE, SV_GUARD_TENSOR, SV_GUARD_EXTENT, SV_GUARD_LAYOUT, SV_GUARD_DISJOINT,
    SV_FILL_ARRAY, SV_FILL_SCALAR,
} sv_operation;

/* --- data of the operations */

/* Where an attribute was found last time, see attributes.c. */
typedef struct {
    PyObject *name;
    sv_type_state owner;     /* the class that the rest is valid for */
    PyObject *hidden;        /* what the class has under the name and the instance hides; borrowed from the class */
    sv_type_state hidden_type;
    uint32_t place;          /* an offset in the object, or a position in its dictionary */
    uint16_t last;           /* the last object seen without a dictionary, a few bits of its address */
    uint8_t moves;
    uint8_t access;
} sv_attribute_load;

/* The registers that are passed to a call, or that form a tuple. */
typedef struct {
    int64_t fastest; /* of the timed calls, in nanoseconds */
    int count;
    uint8_t timed;   /* how many were timed */
    uint16_t registers[];
} sv_given;

/* What a `tensor` guard fills in: nothing, address and shape, or strides as well. */
enum { SV_NO_FILL, SV_FILL_SHAPE, SV_FILL_STRIDES };

typedef struct {
    PyObject *guarded_layout; /* of a field or of an array that is not in C order, NULL for all others */
    uint32_t signature; /* the expected facts, */
    uint32_t mask;      /* in these bits */
    uint16_t view;
    uint8_t fill;       /* what goes into the block as soon as the guard holds, */
    Py_ssize_t offset;  /* and where */
} sv_tensor_guard;

/* For an array that a `tensor` guard has found to have the dimension. */
typedef struct {
    int64_t extent; /* or SV_UNKNOWN_EXTENT */
    uint16_t view;
    uint8_t axis;
} sv_extent_guard;

/* The registers of a `disjoint` guard, sorted by the addresses of their arrays at the last launch: the order rarely changes,
   which saves sorting. */
typedef struct {
    int count;
    struct {
        uint16_t number;
        bool written;
    } registers[];
} sv_overlap;

typedef struct {
    sv_overlap *overlap;
    bool expected;
} sv_disjoint_guard;

typedef struct {
    Py_ssize_t offset;
    uint16_t view;
    bool strided;
} sv_array_fill;

typedef struct {
    PyObject *name; /* for a message */
    const sv_dtype *dtype;
    Py_ssize_t offset;
} sv_scalar_fill;

/* --- instructions */

enum { SV_MOST_OBJECTS = 3 };

/* Decoded once. The objects of an operation are strong references and come first in its struct, in operand order. */
typedef struct {
    uint8_t operation;
    uint8_t object_count;
    bool stable;          /* depends only on stable arguments */
    uint16_t destination; /* the register that a load assigns */
    uint16_t source;      /* the register that is read */
    union {
        PyObject *objects[SV_MOST_OBJECTS];
        Py_ssize_t parameter; /* its index */
        Py_ssize_t length;
        PyObject *constant;
        PyObject *cell;
        PyObject *key;        /* of an item */
        PyObject *expected;   /* is, type, value, keys, contents, layout */
        struct {
            PyObject *names, *name;
            uint64_t version; /* of `names` at the last lookup */
            PyObject *found;  /* the result, valid until they change; owned by the dict */
        } global;             /* also absent_global */
        struct {
            PyObject *globals, *builtins, *name;
            uint64_t hiding_version, version; /* of both dicts, as above */
            PyObject *found;
        } builtin;
        sv_attribute_load attribute; /* also function */
        struct {
            PyObject *name;
            uint16_t class;   /* its register */
        } inherited;
        struct {
            PyObject *names;  /* of the keyword arguments, which come last */
            PyObject *result; /* when the specialization was created */
            PyObject *text;   /* the call as the program spells it */
            sv_given *given;
        } call;               /* also tuple, which has no objects */
        struct {
            PyObject *name, *func;
        } method;
        struct {
            PyObject *name;
        } absent_attribute;
        struct {
            PyObject *function, *code;
        } same_function;
        sv_tensor_guard tensor;
        sv_extent_guard extent;
        sv_disjoint_guard disjoint;
        sv_array_fill array;
        sv_scalar_fill scalar;
    };
} sv_instruction;

_Static_assert(sizeof(sv_instruction) == 64, "an instruction takes one cache line");

static inline bool sv_is_load(const sv_instruction *instruction)
{
    return instruction->operation <= SV_LOAD_FUNCTION;
}

/* Whether the register of a load owns its reference: arguments belong to the caller, constants to the program. */
static inline bool sv_owns_register(const sv_instruction *load)
{
    return load->operation != SV_LOAD_PARAMETER && load->operation != SV_LOAD_CONSTANT;
}

/* --- programs */

/* Names that refer to one object each, or to nothing (NULL), with the dict versions at that time; see snapshot_names.c. */
typedef struct {
    PyObject *dict, *name, *expected; /* strong references */
} sv_name;

typedef struct {
    PyObject *dict; /* that of a name */
    uint64_t version;
} sv_dict_state;

typedef struct {
    int count;
    int dict_count;
    sv_name *entries;
    sv_dict_state *dicts;
} sv_names;

/* What is known below stable arguments, see snapshots.c. */
typedef struct {
    int references;       /* of the program and of the launches that use it */
    int root_count;
    int register_count;
    int owned_count;
    int todo_count;
    PyObject **roots;     /* the arguments, strong references */
    PyObject **registers; /* results of skipped loads, strong references; NULL for the others */
    uint16_t *owned;      /* registers that the other loads own */
    uint32_t *todo;       /* the instructions that are not skipped */
    uint8_t *block;       /* a copy of the argument block */
    sv_names names;       /* checked instead of their instructions */
    bool in_place;        /* recorded, and no foreign arrays need work: see sv_program_run_in_place */
    unsigned age;         /* the expiration count when it was taken */
} sv_snapshot;

enum { SV_SNAPSHOTS = 4 };

typedef struct {
    sv_instruction *instructions; /* loads and guards in order, then scalars: a number may raise, a miss must not */
    Py_ssize_t count;
    int register_count;
    int view_count;  /* registers that hold arrays */
    int parameter_count; /* 1 + the highest parameter read; INT_MAX once it was freed, so that nothing runs it */
    int owned_count; /* registers whose reference the launch drops */
    uint16_t *owned;
    uint16_t *view_of_register; /* per register: the view of its array */
    Py_ssize_t block_size;
    int root_count;
    uint16_t *roots; /* the parameters whose members are stable */
    sv_snapshot *snapshots[SV_SNAPSHOTS]; /* most recent first, NULL at the end */
} sv_program;

/* Compile the Python form of a program. Operands (..., what, number) refer to the list `objects`, other (..., what, …) are
   passed to `resolve`, if these are not NULL. -1 with an exception; the program is then empty. */
int sv_program_compile(sv_program *program, PyObject *source, int registers, Py_ssize_t block_size, PyObject *objects,
                       PyObject *resolve);
/* Everything that it refers to, in order: a list. */
PyObject *sv_program_operands(const sv_program *program);
int sv_program_traverse(const sv_program *program, visitproc visit, void *arg);
void sv_program_free(sv_program *program);

enum { SV_STACK_REGISTERS = 256, SV_STACK_VIEWS = 12 };

/* The registers of one launch, and the views of the foreign arrays in them. */
typedef struct {
    sv_snapshot *snapshot; /* that the launch runs on, or NULL */
    bool writes_foreign;     /* a written array of a library other than NumPy */
    bool fresh;              /* plain calls were made just before, see sv_program_run */
    bool has_borrowed_views; /* of arrays that were read in place, and whose memory may be replaced while Python runs */
    PyObject **registers;
    sv_tensor_view *views; /* NULL until the first foreign array if there are too many for the stack */
    uint8_t *viewed;       /* per view, see below */
    uint8_t *block;
    PyObject *stack_registers[SV_STACK_REGISTERS];
    uint8_t stack_viewed[SV_STACK_REGISTERS];
    sv_tensor_view stack_views[SV_STACK_VIEWS];
} sv_registers;

/* A view that is not set, one that owns nothing, and one that must be released. */
enum { SV_NO_VIEW, SV_BORROWED_VIEW, SV_HOLDING_VIEW };

/* Allocate registers, run the program over the bound arguments, and fill the block. 1: all guards hold. 0: a miss. -1: an
   exception. Always followed by sv_registers_release. `fresh`: the program was created for this launch, and plain calls were
   just made. Their results count: a function that returns something else each time would never return the expected value
   again. */
int sv_program_run(sv_program *program, PyObject *const *arguments, sv_registers *registers, uint8_t *block, bool fresh);
void sv_registers_release(const sv_program *program, sv_registers *registers);

/* tensor_versions.c: increment the version counters of the tensors that a launch has written. Python may run here. */
void sv_versions_increment(const sv_program *program, const sv_registers *registers);

/* Snapshots, in snapshots.c. Returns a new reference, to be released. */
void sv_program_mark_stable(sv_program *program);
sv_snapshot *sv_snapshot_find(sv_program *program, PyObject *const *arguments);
void sv_snapshot_take(sv_program *program, PyObject *const *arguments, const sv_registers *state);
void sv_snapshot_release(sv_snapshot *snapshot);
/* One for repeated launches with the same arguments: our own arrays and numbers are stable too. NULL with an exception. */
sv_snapshot *sv_snapshot_record(const sv_program *program, PyObject *const *arguments, const sv_registers *state);
bool sv_snapshot_is_current(const sv_snapshot *snapshot);
/* Like sv_program_run, with a snapshot of these arguments. */
int sv_program_run_rest(sv_program *program, sv_snapshot *snapshot, PyObject *const *arguments, sv_registers *registers,
                        uint8_t *block);
/* The same without a copy: registers and block are the snapshot's own, until sv_snapshot_leave. One launch at a time. */
int sv_program_run_in_place(sv_program *program, sv_snapshot *snapshot, PyObject *const *arguments);
void sv_snapshot_leave(sv_snapshot *snapshot);
/* Expire all snapshots: the next launch reads all members again. */
void sv_snapshots_expire(void);
int sv_snapshot_traverse(const sv_snapshot *snapshot, visitproc visit, void *arg);

/* Counts how often Python code may have run during a guard program. A foreign array, whose memory nothing holds, is checked
   again if the count has changed since its guard. */
extern unsigned sv_python_runs;

static inline void sv_python_may_run(void)
{
    sv_python_runs++;
}

/* --- loads: 1 found, a new reference; 0 absent; -1 another exception */

/* attributes.c */
int sv_load_attribute(sv_attribute_load *load, PyObject *source, PyObject **result);

/* loads.c */
/* Collect the names of a program whose guards hold, and mark the instructions that they replace. -1 without memory. */
int sv_names_collect(const sv_program *program, const sv_registers *state, sv_names *names, bool *covered);
/* Whether all names still refer to the same objects. -1 with an exception. Python may run here. */
int sv_names_check(sv_names *names);
void sv_names_release(sv_names *names);
int sv_names_traverse(const sv_names *names, visitproc visit, void *arg);

static inline int sv_names_hold(sv_names *names)
{
    for (int i = 0; i < names->dict_count; i++)
        if (sv_dict_version(names->dicts[i].dict) != names->dicts[i].version)
            return sv_names_check(names);
    return 1;
}

/* plain_calls.c: the result of a plain call. An exception is a miss: the compile that follows reports it with its
   location. */
__attribute__((cold)) int sv_load_call(const sv_instruction *load, const sv_registers *state, PyObject **result);
__attribute__((cold)) int sv_load_tuple(const sv_instruction *load, const sv_registers *state, PyObject **result);

int sv_load_name(PyObject *names, PyObject *name, PyObject **result);
int sv_load_item(PyObject *source, PyObject *key, PyObject **result);
int sv_load_inherited(PyObject *source, PyObject *class, PyObject *name, PyObject **result);

/* --- guards: 1 it holds, 0 a miss, -1 an exception */

/* attributes.c: whether reading the attribute would bind this func, which the class defines. */
int sv_binds_func(PyObject *source, PyObject *name, PyObject *func);

/* values.c: the same exact type and the same value, floats by bits. */
int sv_same_value(PyObject *actual, PyObject *expected);
int sv_same_length(PyObject *object, Py_ssize_t expected);
int sv_same_keys(PyObject *object, PyObject *expected);

/* deep_values.c: whether an object matches its description. */
int sv_same_contents(PyObject *object, PyObject *description);

/* tensors.c: the guard of a foreign array. Allocates the views if there are none yet. And: whether views are still valid. */
int sv_guard_foreign(const sv_program *program, const sv_tensor_guard *guard, PyObject *object, sv_registers *state);
int sv_guard_extent(const sv_extent_guard *guard, PyObject *object, const sv_registers *state);
int sv_views_still_hold(const sv_program *program, const sv_registers *state);

/* overlap.c: whether no written array overlaps itself, another of them, or one of the others. For lists or tuples, and for
   registers. */
int sv_are_disjoint(PyObject *written, PyObject *others);
int sv_guard_disjoint(const sv_program *program, const sv_disjoint_guard *guard, const sv_registers *state);

/* --- fills */

/* scalars.c: 1, 0 if it is not a number, or -1 with an exception. */
int sv_fill_scalar(const sv_scalar_fill *fill, PyObject *object, uint8_t *block);

/* tensors.c */
void sv_fill_foreign(uint8_t *slots, const sv_tensor_view *view, bool strided);

/* The slots of an array of complex numbers after its extents, and after its strides: those of the dimension of their parts. */
static inline int64_t *sv_fill_parts(int64_t *slot, int parts, int64_t number)
{
    if (parts > 1)
        *slot++ = number;
    return slot;
}

/* One of our own arrays. */
static inline void sv_fill_own(uint8_t *slots, const sv_array *array, bool strided)
{
    int64_t *slot = (int64_t *)slots;
    slot[SV_POINTER_SLOT] = (int64_t)(intptr_t)array->data;
    slot += SV_FIRST_EXTENT_SLOT;
    for (int axis = 0; axis < array->ndim; axis++)
        *slot++ = array->shape[axis];
    int parts = sv_dtype_parts(array->dtype);
    slot = sv_fill_parts(slot, parts, parts);
    if (strided) { /* the slots of strides follow */
        int shift = __builtin_ctz(array->dtype->itemsize / parts);
        for (int axis = 0; axis < array->ndim; axis++)
            *slot++ = array->byte_strides[axis] >> shift;
        sv_fill_parts(slot, parts, 1);
    }
}

#endif
