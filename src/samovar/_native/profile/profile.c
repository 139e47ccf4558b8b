/* Profiles: the time of launches and tasks, and their threads. When off, a launch and a task each check one word. When on,
   the thread that runs a chunk of a task records it under one lock: a few hundred nanoseconds per launch. */
#define _GNU_SOURCE
#include "profile/profile.h"

#include <string.h>
#include <structmember.h>
#include <sys/syscall.h>
#include <unistd.h>

_Atomic uint32_t sv_hooks;

void sv_set_hook(uint32_t which, bool on)
{
    if (on)
        atomic_fetch_or(&sv_hooks, which);
    else
        atomic_fetch_and(&sv_hooks, ~which);
}

enum { LAUNCH = -1, THREAD_WORDS = 4, NAME = 16 };

typedef struct {
    int64_t runs;
    int64_t nanoseconds; /* from begin to end, on the launching thread */
    int64_t longest;
    int64_t busy;        /* summed over the threads */
    int64_t units;
    int64_t items;
    int64_t chunks;
    int64_t threads;     /* summed over the runs */
    int64_t most_threads;
} totals;

/* The data of one specialization. */
typedef struct {
    PyObject *description;
    totals launches;
    totals *tasks;
    int task_count;
} row;

typedef struct {
    int64_t begin, end, items;
    int32_t row;
    int32_t task; /* or LAUNCH */
    int32_t thread;
} event;

typedef struct profile {
    PyObject_HEAD
    PyObject *describe;
    struct profile *next; /* of the active profiles */
    bool is_active;
    row *rows;
    Py_ssize_t row_count, row_capacity;
    int32_t *row_of;      /* by the number of a specialization; -1 if there is none */
    Py_ssize_t numbers;
    event *events;
    Py_ssize_t event_count, event_capacity, event_limit;
    int64_t left_out;     /* events that exceeded the limit: totals include them */
} profile;

extern PyTypeObject sv_profile_type;

typedef struct {
    int32_t id;
    char name[NAME];
} thread;

/* Protects everything below, and the contents of profiles; descriptions are protected by the GIL. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static profile *active;
static thread *threads;
static size_t thread_count;
static uint32_t specialization_count;

/* A small number for a thread, and its system name. */
static _Thread_local int32_t own_number __attribute__((tls_model("initial-exec")));
static _Thread_local int32_t own_id __attribute__((tls_model("initial-exec")));

/* With the lock. Without memory, a thread stays unnamed. */
static void introduce(void)
{
    static int32_t numbers;
    own_number = ++numbers;
    own_id = (int32_t)syscall(SYS_gettid);
    thread *grown = realloc(threads, sizeof *threads * (thread_count + 1));
    if (grown == NULL)
        return;
    threads = grown;
    threads[thread_count] = (thread){.id = own_id};
    if (pthread_getname_np(pthread_self(), threads[thread_count].name, NAME) != 0)
        threads[thread_count].name[0] = 0;
    thread_count++;
}

/* --- recording */

/* With the lock. */
static row *row_of(profile *self, uint32_t number)
{
    int32_t found = number < (size_t)self->numbers ? self->row_of[number] : -1;
    return found < 0 ? NULL : &self->rows[found];
}

static void note(profile *self, const row *of, int32_t task, int64_t begin, int64_t end, int64_t items)
{
    if (self->event_count == self->event_capacity) {
        Py_ssize_t capacity = self->event_capacity == 0 ? 1024 : 2 * self->event_capacity;
        if (capacity > self->event_limit)
            capacity = self->event_limit;
        event *grown = capacity <= self->event_count ? NULL : realloc(self->events, sizeof *grown * (size_t)capacity);
        if (grown == NULL) {
            self->left_out++;
            return;
        }
        self->events = grown;
        self->event_capacity = capacity;
    }
    self->events[self->event_count++] = (event){begin, end, items, (int32_t)(of - self->rows), task, own_id};
}

static void add(totals *to, const totals *run)
{
    to->runs++;
    to->nanoseconds += run->nanoseconds;
    to->longest = run->nanoseconds > to->longest ? run->nanoseconds : to->longest;
    to->busy += run->busy;
    to->units += run->units;
    to->items += run->items;
    to->chunks += run->chunks;
    to->threads += run->threads;
    to->most_threads = run->threads > to->most_threads ? run->threads : to->most_threads;
}

void sv_profile_launched(const sv_specialization *specialization, int64_t begin)
{
    int64_t end = sv_now();
    totals run = {.nanoseconds = end - begin};
    pthread_mutex_lock(&lock);
    if (own_number == 0)
        introduce();
    for (profile *each = active; each != NULL; each = each->next) {
        row *of = row_of(each, specialization->number);
        if (of == NULL)
            continue; /* it was started in the middle of the launch */
        add(&of->launches, &run);
        note(each, of, LAUNCH, begin, end, 0);
    }
    pthread_mutex_unlock(&lock);
}

/* --- tasks */

typedef struct {
    sv_task_function function;
    void *frame;
    uint32_t number;
    int32_t task;
    int64_t items_per_unit;
    _Atomic int64_t busy, chunks;
    _Atomic uint64_t threads[THREAD_WORDS]; /* a bit for each participating thread */
} profiled_task;

static void run_chunk(void *frame, int64_t begin, int64_t end)
{
    profiled_task *profiled = frame;
    int64_t start = sv_now();
    profiled->function(profiled->frame, begin, end);
    int64_t now = sv_now();
    pthread_mutex_lock(&lock);
    if (own_number == 0)
        introduce();
    for (profile *each = active; each != NULL; each = each->next) {
        row *of = row_of(each, profiled->number);
        if (of != NULL)
            note(each, of, profiled->task, start, now, (end - begin) * profiled->items_per_unit);
    }
    pthread_mutex_unlock(&lock);
    uint32_t bit = (uint32_t)own_number % (64 * THREAD_WORDS);
    atomic_fetch_or_explicit(&profiled->threads[bit / 64], 1ull << bit % 64, memory_order_relaxed);
    atomic_fetch_add_explicit(&profiled->busy, now - start, memory_order_relaxed);
    atomic_fetch_add_explicit(&profiled->chunks, 1, memory_order_relaxed);
}

bool sv_profile_is_running(sv_task_function function)
{
    return function == run_chunk;
}

int32_t sv_profile_run(sv_context *context, int32_t index, sv_task_function function, void *frame, int64_t units, int64_t items_per_unit)
{
    profiled_task profiled = {.function = function, .frame = frame, .number = context->specialization->number, .task = index,
                            .items_per_unit = items_per_unit};
    int64_t start = sv_now();
    int32_t failed = sv_run(context, index, run_chunk, &profiled, units, items_per_unit);
    totals run = {.nanoseconds = sv_now() - start, .busy = atomic_load(&profiled.busy), .chunks = atomic_load(&profiled.chunks)};
    run.units = units;
    run.items = units * items_per_unit;
    for (int i = 0; i < THREAD_WORDS; i++)
        run.threads += __builtin_popcountll(atomic_load(&profiled.threads[i]));
    pthread_mutex_lock(&lock);
    for (profile *each = active; each != NULL; each = each->next) {
        row *of = row_of(each, profiled.number);
        if (of != NULL && index >= 0 && index < of->task_count)
            add(&of->tasks[index], &run);
    }
    pthread_mutex_unlock(&lock);
    return failed;
}

/* --- rows */

/* With the GIL. Allocate the index for a specialization, and a row for it. */
static int add_row(profile *self, const sv_specialization *specialization, PyObject *description)
{
    totals *tasks = calloc((size_t)specialization->task_count + 1, sizeof *tasks);
    pthread_mutex_lock(&lock);
    bool has_room = tasks != NULL;
    if (has_room && self->row_count == self->row_capacity) {
        Py_ssize_t capacity = self->row_capacity == 0 ? 16 : 2 * self->row_capacity;
        row *grown = realloc(self->rows, sizeof *grown * (size_t)capacity);
        has_room = grown != NULL;
        if (has_room) {
            self->rows = grown;
            self->row_capacity = capacity;
        }
    }
    if (has_room && specialization->number >= (size_t)self->numbers) {
        Py_ssize_t numbers = 2 * (Py_ssize_t)specialization->number + 16;
        int32_t *grown = realloc(self->row_of, sizeof *grown * (size_t)numbers);
        has_room = grown != NULL;
        if (has_room) {
            memset(grown + self->numbers, 0xff, sizeof *grown * (size_t)(numbers - self->numbers));
            self->row_of = grown;
            self->numbers = numbers;
        }
    }
    if (has_room) {
        self->row_of[specialization->number] = (int32_t)self->row_count;
        self->rows[self->row_count++] = (row){Py_NewRef(description), {0}, tasks, specialization->task_count};
    }
    pthread_mutex_unlock(&lock);
    if (has_room)
        return 0;
    free(tasks);
    PyErr_NoMemory();
    return -1;
}

/* An active profile that does not know the specialization, or NULL; a new reference. */
static profile *unknowing(const sv_specialization *specialization)
{
    pthread_mutex_lock(&lock);
    profile *found = active;
    while (found != NULL && row_of(found, specialization->number) != NULL)
        found = found->next;
    pthread_mutex_unlock(&lock);
    return (profile *)Py_XNewRef(found);
}

int sv_profile_expect(sv_kernel *kernel, sv_specialization *specialization)
{
    if (specialization->number == 0)
        specialization->number = ++specialization_count;
    profile *self;
    while ((self = unknowing(specialization)) != NULL) {
        PyObject *description = PyObject_CallFunctionObjArgs(self->describe, (PyObject *)kernel, (PyObject *)specialization, NULL);
        pthread_mutex_lock(&lock);
        bool is_known = row_of(self, specialization->number) != NULL; /* a launch made by the description callback */
        pthread_mutex_unlock(&lock);
        int added = description == NULL ? -1 : is_known ? 0 : add_row(self, specialization, description);
        Py_XDECREF(description);
        Py_DECREF(self);
        if (added < 0)
            return -1;
    }
    return 0;
}

/* --- from Python */

/* In the child of a fork, other threads may have been in the middle of something: deactivate all profiles. */
static void stop_in_child(void)
{
    pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    lock = fresh;
    for (profile *each = active; each != NULL; each = each->next)
        each->is_active = false; /* this reference is leaked */
    active = NULL;
    own_number = 0;
    threads = NULL;
    thread_count = 0;
    sv_set_hook(SV_HOOK_PROFILE, false);
}

static PyObject *profile_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"describe", "events", NULL};
    PyObject *describe;
    Py_ssize_t events;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "On:Profile", names, &describe, &events))
        return NULL;
    if (!PyCallable_Check(describe) || events < 0) {
        PyErr_SetString(PyExc_TypeError, "a profile needs a callable and a number of events");
        return NULL;
    }
    profile *self = (profile *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->describe = Py_NewRef(describe);
        self->event_limit = events;
    }
    return (PyObject *)self;
}

static PyObject *profile_start(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    profile *self = (profile *)object;
    if (self->is_active)
        Py_RETURN_NONE;
    pthread_mutex_lock(&lock);
    self->is_active = true;
    self->next = active;
    active = (profile *)Py_NewRef(object);
    pthread_mutex_unlock(&lock);
    sv_set_hook(SV_HOOK_PROFILE, true);
    Py_RETURN_NONE;
}

static PyObject *profile_stop(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    profile *self = (profile *)object;
    if (!self->is_active)
        Py_RETURN_NONE;
    pthread_mutex_lock(&lock);
    profile **place = &active;
    while (*place != self)
        place = &(*place)->next;
    *place = self->next;
    self->next = NULL;
    self->is_active = false;
    bool others = active != NULL;
    pthread_mutex_unlock(&lock);
    sv_set_hook(SV_HOOK_PROFILE, others);
    Py_DECREF(self);
    Py_RETURN_NONE;
}

static PyObject *as_numbers(const totals *of)
{
    return Py_BuildValue("LLLLLLLLL", (long long)of->runs, (long long)of->nanoseconds, (long long)of->longest, (long long)of->busy,
                         (long long)of->units, (long long)of->items, (long long)of->chunks, (long long)of->threads, (long long)of->most_threads);
}

/* Copies are taken under the lock, and converted to objects afterward: creating an object may run Python. */
static PyObject *profile_rows(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    profile *self = (profile *)object;
    PyObject *list = PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < self->row_count; i++) {
        pthread_mutex_lock(&lock);
        row copy = self->rows[i];
        size_t bytes = sizeof(totals) * (size_t)copy.task_count;
        totals *tasks = malloc(bytes + 1);
        if (tasks != NULL)
            memcpy(tasks, copy.tasks, bytes);
        pthread_mutex_unlock(&lock);
        PyObject *per_task = tasks == NULL ? PyErr_NoMemory() : PyTuple_New(copy.task_count);
        for (int k = 0; per_task != NULL && k < copy.task_count; k++) {
            PyObject *numbers = as_numbers(&tasks[k]);
            if (numbers == NULL)
                Py_CLEAR(per_task);
            else
                PyTuple_SET_ITEM(per_task, k, numbers);
        }
        free(tasks);
        PyObject *item = per_task == NULL ? NULL : Py_BuildValue("ONN", copy.description, as_numbers(&copy.launches), per_task);
        if (item == NULL || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    return list;
}

static PyObject *profile_events(PyObject *object, PyObject *Py_UNUSED(ignored))
{
    profile *self = (profile *)object;
    pthread_mutex_lock(&lock);
    Py_ssize_t count = self->event_count;
    size_t bytes = sizeof(event) * (size_t)count;
    event *events = malloc(bytes + 1);
    if (events != NULL && count > 0)
        memcpy(events, self->events, bytes);
    pthread_mutex_unlock(&lock);
    PyObject *list = events == NULL ? PyErr_NoMemory() : PyList_New(0);
    for (Py_ssize_t i = 0; list != NULL && i < count; i++) {
        const event *each = &events[i];
        PyObject *item = Py_BuildValue("iiiLLL", (int)each->row, (int)each->task, (int)each->thread, (long long)each->begin,
                                       (long long)each->end, (long long)each->items);
        if (item == NULL || PyList_Append(list, item) < 0)
            Py_CLEAR(list);
        Py_XDECREF(item);
    }
    free(events);
    return list;
}

static PyObject *profile_threads(PyObject *Py_UNUSED(object), PyObject *Py_UNUSED(ignored))
{
    pthread_mutex_lock(&lock);
    size_t count = thread_count;
    thread *copy = malloc(sizeof *copy * count + 1);
    if (copy != NULL && count > 0)
        memcpy(copy, threads, sizeof *copy * count);
    pthread_mutex_unlock(&lock);
    PyObject *names = copy == NULL ? PyErr_NoMemory() : PyDict_New();
    for (size_t i = 0; names != NULL && i < count; i++) {
        PyObject *id = PyLong_FromLong(copy[i].id), *name = PyUnicode_DecodeFSDefault(copy[i].name);
        if (id == NULL || name == NULL || PyDict_SetItem(names, id, name) < 0)
            Py_CLEAR(names);
        Py_XDECREF(id);
        Py_XDECREF(name);
    }
    free(copy);
    return names;
}

static PyObject *profile_left_out(PyObject *object, void *Py_UNUSED(closure))
{
    pthread_mutex_lock(&lock);
    int64_t left_out = ((profile *)object)->left_out;
    pthread_mutex_unlock(&lock);
    return PyLong_FromLongLong(left_out);
}

/* Descriptions are plain data; the callback may refer back to a profile. */
static int profile_traverse(PyObject *object, visitproc visit, void *arg)
{
    Py_VISIT(((profile *)object)->describe);
    return 0;
}

static int profile_clear(PyObject *object)
{
    Py_CLEAR(((profile *)object)->describe);
    return 0;
}

/* Not active: the list of active profiles owns a reference. */
static void profile_dealloc(PyObject *object)
{
    profile *self = (profile *)object;
    PyObject_GC_UnTrack(object);
    profile_clear(object);
    for (Py_ssize_t i = 0; i < self->row_count; i++) {
        Py_DECREF(self->rows[i].description);
        free(self->rows[i].tasks);
    }
    free(self->rows);
    free(self->row_of);
    free(self->events);
    Py_TYPE(object)->tp_free(object);
}

static PyMethodDef profile_methods[] = {
    {"start", profile_start, METH_NOARGS, PyDoc_STR("start($self, /)\n--\n\nStart recording launches.")},
    {"stop", profile_stop, METH_NOARGS, PyDoc_STR("stop($self, /)\n--\n\nStop recording.")},
    {"rows", profile_rows, METH_NOARGS,
     PyDoc_STR("rows($self, /)\n--\n\n"
               "Per specialization: its description, then the totals of its launches, then those of each task. Totals are runs,\n"
               "nanoseconds, the longest, nanoseconds summed over the threads, units, items, chunks, threads summed over the\n"
               "runs, and the maximum number of threads.")},
    {"events", profile_events, METH_NOARGS,
     PyDoc_STR("events($self, /)\n--\n\n"
               "The recorded events: (row, task or -1 for a launch, thread, begin, end, items), in nanoseconds.")},
    {"threads", profile_threads, METH_NOARGS, PyDoc_STR("threads($self, /)\n--\n\nThe system names of the threads, by number.")},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef profile_getset[] = {
    {"left_out", profile_left_out, NULL, "The number of events that exceeded the limit. Totals include them.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

PyTypeObject sv_profile_type = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "samovar._native.Profile",
    .tp_basicsize = sizeof(profile),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_doc = PyDoc_STR("Profile(describe, events)\n--\n\n"
                        "A recording of launches and tasks. describe(kernel, specialization) returns the label of a row; `events` is the\n"
                        "maximum number of events kept.\n\n"
                        ">>> from samovar._native import Profile\n"
                        ">>> profile = Profile(lambda kernel, specialization: kernel.__name__, 100)\n"
                        ">>> profile.start()\n>>> profile.stop()\n>>> profile.rows()\n[]"),
    .tp_new = profile_new,
    .tp_dealloc = profile_dealloc,
    .tp_traverse = profile_traverse,
    .tp_clear = profile_clear,
    .tp_methods = profile_methods,
    .tp_getset = profile_getset,
};

int sv_profile_init(PyObject *module)
{
    if (pthread_atfork(NULL, NULL, stop_in_child) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    return PyModule_AddType(module, &sv_profile_type);
}
