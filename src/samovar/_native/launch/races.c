/* The data race detector: a shadow of the memory that the iterations of one task access, and the pairs of conflicting
   accesses.

   An instrumented task runs on one thread, in order, so there are no locks. Each accessed granule of memory has a list of
   accesses, one per site. An access remembers two different iterations: that is enough to decide, for every pair of sites,
   whether two iterations conflict at the granule, so the result is exact.

   Concurrent sections are checked in the same way, with their own shadow: a section counts as an iteration. */
#include "launch/runtime.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_AXES = 16 };
enum { PAGE_BITS = 12, FIRST_PAGES = 64, FIRST_TOUCHES = 1 << 10 };

static const uint64_t NOBODY = ~0ull;

typedef struct {
    int32_t site;
    uint32_t next;        /* the access of another site to the same granule: its position + 1 */
    uint64_t first;       /* iterations */
    uint64_t second;
    int64_t element;      /* the position in the array, in row-major order */
} touch;

/* Accessed memory is clustered: granules are found by their page. */
typedef struct {
    uintptr_t number;     /* of the page; 0: free */
    uint32_t *heads;      /* per granule, the first access: its position + 1 */
} page;

/* What all accesses of a site have in common; the extents are the most recent ones. */
typedef struct {
    uint8_t kind;         /* SV_READ … */
    uint64_t constant;    /* the value that an SV_WRITE_CONSTANT writes */
    int32_t axes;
    int64_t extents[MOST_AXES];
} site_facts;

typedef struct {
    int32_t sites[2];
    uint32_t touches[2];
    uint64_t iterations[2];
    uint64_t elements;    /* the number of elements that both access */
    int64_t last;         /* the last one of them: an element may have several granules */
} conflict;

struct sv_races {
    bool is_active;
    bool exhausted;       /* out of memory: the result is unknown */
    int32_t task;         /* the site that names the variables of the task */
    int32_t axes;
    int64_t begin[MOST_AXES];
    int64_t extents[MOST_AXES];
    int64_t first[MOST_AXES]; /* the start values of the user's loop variables, and their steps */
    int64_t step[MOST_AXES];
    uint64_t iteration;
    uintptr_t granule_bytes;
    page *pages;
    size_t page_count, used_pages;
    page *last_page;
    touch *touches;
    size_t touch_count, touch_capacity;
    site_facts *facts;    /* per site of the kernel */
    conflict *conflicts;
    size_t conflict_count, conflict_capacity;
    sv_races *sections;   /* what sections access, or NULL */
};

static page *place_of(page *pages, size_t count, uintptr_t number)
{
    size_t at = (size_t)((number * 0x9e3779b97f4a7c15ull) >> 32) & (count - 1);
    while (pages[at].number != 0 && pages[at].number != number)
        at = (at + 1) & (count - 1);
    return &pages[at];
}

static bool more_pages(sv_races *races)
{
    size_t count = races->page_count;
    page *larger = calloc(2 * count, sizeof *larger);
    if (larger == NULL)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (races->pages[i].number != 0)
            *place_of(larger, 2 * count, races->pages[i].number) = races->pages[i];
    }
    free(races->pages);
    races->pages = larger;
    races->page_count = 2 * count;
    races->last_page = NULL;
    return true;
}

/* The head of the access list of the granule at an address; NULL without memory. */
static uint32_t *head_of(sv_races *races, uintptr_t address)
{
    uintptr_t number = address >> PAGE_BITS;
    page *found = races->last_page;
    if (found == NULL || found->number != number) {
        if (2 * (races->used_pages + 1) > races->page_count && !more_pages(races))
            return NULL;
        found = place_of(races->pages, races->page_count, number);
        if (found->number == 0) {
            found->heads = calloc(((size_t)1 << PAGE_BITS) / races->granule_bytes, sizeof *found->heads);
            if (found->heads == NULL)
                return NULL;
            found->number = number;
            races->used_pages++;
        }
        races->last_page = found;
    }
    return &found->heads[(address & (((uintptr_t)1 << PAGE_BITS) - 1)) / races->granule_bytes];
}

static bool more_touches(sv_races *races)
{
    size_t capacity = races->touch_capacity == 0 ? FIRST_TOUCHES : 2 * races->touch_capacity;
    touch *larger = capacity > UINT32_MAX / 2 ? NULL : realloc(races->touches, capacity * sizeof *larger);
    if (larger == NULL)
        return false;
    races->touches = larger;
    races->touch_capacity = capacity;
    return true;
}

static void clear_pages(sv_races *races)
{
    for (size_t i = 0; races->pages != NULL && i < races->page_count; i++) {
        free(races->pages[i].heads);
        races->pages[i] = (page){0};
    }
    races->used_pages = 0;
    races->last_page = NULL;
}

/* The object in a slot, created if there is none yet; NULL, and the launch fails, without memory. */
static sv_races *made(sv_context *context, sv_races **place)
{
    if (*place == NULL) {
        sv_races *races = *place = calloc(1, sizeof *races);
        if (races == NULL) {
            sv_fail_memory(context);
            return NULL;
        }
        races->facts = calloc((size_t)context->specialization->site_count + 1, sizeof *races->facts);
        races->page_count = FIRST_PAGES;
        races->pages = calloc(races->page_count, sizeof *races->pages);
    }
    return *place;
}

static void begin(sv_races *races, int32_t task, int32_t axes, const int64_t *bounds, int32_t granule_bytes)
{
    clear_pages(races);
    races->exhausted = races->facts == NULL || races->pages == NULL;
    races->is_active = !races->exhausted && axes <= MOST_AXES;
    races->touch_count = races->conflict_count = 0;
    races->granule_bytes = (uintptr_t)granule_bytes;
    races->task = task;
    races->axes = axes;
    for (int32_t axis = 0; axis < axes && axis < MOST_AXES; axis++, bounds += 4) {
        races->begin[axis] = bounds[0];
        races->extents[axis] = bounds[1] - bounds[0];
        races->first[axis] = bounds[2];
        races->step[axis] = bounds[3];
    }
}

void sv_races_begin(sv_context *context, int32_t task, int32_t axes, const int64_t *bounds, int32_t granule_bytes)
{
    sv_races *races = made(context, &context->races);
    if (races != NULL)
        begin(races, task, axes, bounds, granule_bytes);
}

void sv_sections_begin(sv_context *context, int32_t site, int32_t count, int32_t granule_bytes)
{
    sv_races *races = made(context, &context->races), *sections = races == NULL ? NULL : made(context, &races->sections);
    const int64_t bounds[] = {0, count, 0, 1};
    if (sections != NULL)
        begin(sections, site, 1, bounds, granule_bytes);
}

void sv_sections_next(sv_context *context, int32_t section)
{
    if (context->races != NULL && context->races->sections != NULL)
        context->races->sections->iteration = (uint64_t)section;
}

void sv_races_iteration(sv_context *context, const int64_t *position)
{
    sv_races *races = context->races;
    if (races == NULL || !races->is_active)
        return;
    uint64_t number = 0;
    for (int32_t axis = 0; axis < races->axes; axis++)
        number = number * (uint64_t)races->extents[axis] + (uint64_t)(position[axis] - races->begin[axis]);
    races->iteration = number;
}

static bool touch_granule(sv_races *races, uintptr_t address, int32_t site, int64_t element)
{
    uint32_t *head = head_of(races, address);
    if (head == NULL || (races->touch_count == races->touch_capacity && !more_touches(races)))
        return false;
    for (uint32_t at = *head; at != 0; at = races->touches[at - 1].next) {
        touch *known = &races->touches[at - 1];
        if (known->site == site) {
            if (known->first != races->iteration && known->second == NOBODY)
                known->second = races->iteration;
            return true;
        }
    }
    races->touches[races->touch_count++] = (touch){site, *head, races->iteration, NOBODY, element};
    *head = (uint32_t)races->touch_count;
    return true;
}

static void note(sv_races *races, int32_t site, int32_t kind, const void *address, int32_t bytes, int32_t axes,
                 const int64_t *place, uint64_t constant)
{
    if (races == NULL || !races->is_active)
        return;
    site_facts *facts = &races->facts[site];
    int64_t element = 0;
    facts->kind = (uint8_t)kind;
    facts->constant = constant;
    facts->axes = axes < MOST_AXES ? axes : MOST_AXES;
    for (int32_t axis = 0; axis < facts->axes; axis++) {
        facts->extents[axis] = place[axes + axis];
        element = element * place[axes + axis] + place[axis];
    }
    /* Elements and granules are aligned to their sizes, which are powers of two. */
    uintptr_t first = (uintptr_t)address, after = first + (uintptr_t)bytes;
    for (uintptr_t at = first; at < after; at += races->granule_bytes) {
        if (!touch_granule(races, at, site, element)) {
            races->exhausted = true;
            races->is_active = false;
            return;
        }
    }
}

void sv_races_touch(sv_context *context, int32_t site, int32_t kind, const void *address, int32_t bytes, int32_t axes,
                    const int64_t *place, uint64_t constant)
{
    sv_races *races = context->races;
    if (races == NULL || site < 0 || site >= context->specialization->site_count)
        return;
    note(races, site, kind, address, bytes, axes, place, constant);
    note(races->sections, site, kind, address, bytes, axes, place, constant);
}

/* --- conflicts */

static bool is_write(uint8_t kind)
{
    return kind == SV_WRITE || kind == SV_WRITE_CONSTANT;
}

static bool excludes(const site_facts *a, const site_facts *b)
{
    if (a->kind == SV_WRITE_CONSTANT && b->kind == SV_WRITE_CONSTANT)
        return a->constant != b->constant;
    if (is_write(a->kind) || is_write(b->kind))
        return true;
    /* One of them is atomic, the other one reads. */
    return a->kind != b->kind;
}

/* Two different iterations, one of each access. */
static bool different_iterations(const touch *a, const touch *b, uint64_t *of_a, uint64_t *of_b)
{
    *of_a = a->first;
    *of_b = b->first != a->first ? b->first : b->second;
    if (*of_b == NOBODY && a->second != NOBODY) {
        *of_a = a->second;
        *of_b = b->first;
    }
    return *of_b != NOBODY;
}

static bool note_conflict(sv_races *races, uint32_t a, uint32_t b, uint64_t of_a, uint64_t of_b)
{
    const touch *first = &races->touches[a], *second = &races->touches[b];
    for (size_t i = 0; i < races->conflict_count; i++) {
        conflict *known = &races->conflicts[i];
        if (known->sites[0] == first->site && known->sites[1] == second->site) {
            known->elements += known->last != first->element;
            known->last = first->element;
            return true;
        }
    }
    if (races->conflict_count == races->conflict_capacity) {
        size_t capacity = races->conflict_capacity == 0 ? 16 : 2 * races->conflict_capacity;
        conflict *larger = realloc(races->conflicts, capacity * sizeof *larger);
        if (larger == NULL)
            return false;
        races->conflicts = larger;
        races->conflict_capacity = capacity;
    }
    races->conflicts[races->conflict_count++] = (conflict){{first->site, second->site}, {a, b}, {of_a, of_b}, 1, first->element};
    return true;
}

static bool find_conflicts(sv_races *races)
{
    /* In the order in which the granules were first accessed: lists begin with the latest access. */
    for (size_t start = 0; start < races->touch_count; start++) {
        uint32_t a = (uint32_t)start, b = a;
        for (;;) {
            uint64_t of_a, of_b;
            const touch *first = &races->touches[a], *second = &races->touches[b];
            bool together = !excludes(&races->facts[first->site], &races->facts[second->site]);
            if (!together && different_iterations(first, second, &of_a, &of_b)) {
                bool swap = first->site > second->site;
                if (!(swap ? note_conflict(races, b, a, of_b, of_a) : note_conflict(races, a, b, of_a, of_b)))
                    return false;
            }
            if (races->touches[b].next == 0)
                break;
            b = races->touches[b].next - 1;
        }
    }
    return true;
}

static int32_t end(sv_context *context, sv_races *races, int32_t site)
{
    if (races == NULL)
        return sv_failed(context);
    bool found = races->is_active && find_conflicts(races);
    races->is_active = false;
    if (races->exhausted || !found) {
        sv_fail_memory(context);
        return 1;
    }
    if (races->conflict_count > 0)
        sv_fail(context, site, NULL);
    return sv_failed(context);
}

int32_t sv_races_end(sv_context *context)
{
    return end(context, context->races, SV_SITE_RACES);
}

int32_t sv_sections_end(sv_context *context)
{
    return end(context, context->races == NULL ? NULL : context->races->sections, SV_SITE_SECTIONS);
}

void sv_races_free(sv_races *races)
{
    if (races == NULL)
        return;
    sv_races_free(races->sections);
    clear_pages(races);
    free(races->facts);
    free(races->pages);
    free(races->touches);
    free(races->conflicts);
    free(races);
}

/* A number as mixed-radix digits by some extents; as values of variables if these have start values. */
static PyObject *digits(uint64_t number, int32_t count, const int64_t *extents, const int64_t *first, const int64_t *step)
{
    PyObject *tuple = PyTuple_New(count);
    for (int32_t axis = count - 1; tuple != NULL && axis >= 0; axis--) {
        uint64_t extent = extents[axis] > 0 ? (uint64_t)extents[axis] : 1;
        long long value = (long long)(number % extent);
        PyObject *digit = PyLong_FromLongLong(first == NULL ? value : first[axis] + value * step[axis]);
        if (digit == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, axis, digit);
        number /= extent;
    }
    return tuple;
}

PyObject *sv_races_report(const sv_races *races, int32_t site)
{
    if (site == SV_SITE_SECTIONS)
        races = races->sections;
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < races->conflict_count; i++) {
        const conflict *each = &races->conflicts[i];
        PyObject *sides[2];
        for (int side = 0; side < 2; side++) {
            const touch *one = &races->touches[each->touches[side]];
            const site_facts *facts = &races->facts[one->site];
            sides[side] = Py_BuildValue(
                "iiNN", one->site, facts->kind, digits((uint64_t)one->element, facts->axes, facts->extents, NULL, NULL),
                digits(each->iterations[side], races->axes, races->extents, races->first, races->step));
        }
        PyObject *row = sides[0] == NULL || sides[1] == NULL
                            ? NULL
                            : Py_BuildValue("OOK", sides[0], sides[1], (unsigned long long)each->elements);
        Py_XDECREF(sides[0]);
        Py_XDECREF(sides[1]);
        if (row == NULL || PyList_Append(list, row) < 0)
            Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list == NULL ? NULL : Py_BuildValue("iN", (int)races->task, list);
}
