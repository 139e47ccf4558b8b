/* Sparse trees, see tree.h. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "sparse/tree.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { PAGE = 4096, LINE = 64 };
/* Inactive memory is kept for the next cells, unless it is much more than was just in use. */
enum { KEPT_PAGES = 1024 };
/* Trees of at most this many bytes use huge pages. */
enum { SMALL_TREE = 64 << 20 };

typedef struct node node;

struct node {
    sv_sparse_shape shape;
    sv_sparse_tree *tree;
    node *above;
    node **below; /* the nearest sparse nodes below */
    int below_count;
    int64_t mask_at, listed_at; /* offsets in bytes */
    _Atomic uint8_t *mask;
    _Atomic int32_t *lengths;
    int summary_count;
    int64_t summary_bits[SV_SPARSE_SUMMARIES];
    _Atomic uint64_t *summary[SV_SPARSE_SUMMARIES];
    void *listed;
    bool is_wide;
    _Atomic int64_t active;
    _Atomic bool changed; /* since the cells were listed */
    int64_t listed_count;
};

struct sv_sparse_tree {
    char *data;
    size_t reserved;
    int64_t data_bytes;
    bool is_mixed; /* with fields that are in no sparse node */
    int count;
    node *nodes;
    pthread_mutex_t lock; /* for listing, and for what follows */
    _Atomic uint64_t *is_kept; /* a bit per page: inactive, and not given back */
    int64_t *kept;             /* their numbers */
    int64_t kept_count, kept_capacity;
    _Atomic int64_t cleared;   /* pages cleared since the last release */
};

static int64_t rounded(int64_t number, int64_t unit)
{
    return (number + unit - 1) / unit * unit;
}

bool sv_sparse_is_wide(const sv_sparse_shape *shape)
{
    return shape->cells > INT32_MAX;
}

/* --- creation */

/* Reserve bytes; returns their offset. -1 if they do not fit. */
static int64_t reserve(int64_t *end, int64_t bytes)
{
    int64_t start = rounded(*end, PAGE);
    if (bytes < 0 || bytes > INT64_MAX / 4 || start > INT64_MAX / 4)
        return -1;
    *end = start + bytes;
    return start;
}

static bool plan_node(node *each, int64_t *end, int64_t summary_at[])
{
    const sv_sparse_shape *shape = &each->shape;
    int64_t item = shape->is_list ? (int64_t)sizeof(int32_t) : 1;
    if (shape->cells > INT64_MAX / 64)
        return false;
    /* The line before a mask has the address of its node. */
    int64_t header = reserve(end, PAGE);
    each->mask_at = header < 0 ? -1 : reserve(end, rounded(shape->cells * item, LINE));
    each->listed_at = 0;
    if (each->mask_at < 0)
        return false;
    if (shape->is_list)
        return true;
    each->is_wide = sv_sparse_is_wide(shape);
    each->listed_at = reserve(end, shape->cells * (each->is_wide ? 8 : 4));
    if (each->listed_at < 0)
        return false;
    for (int64_t bits = rounded(shape->cells, LINE) / LINE;; bits = rounded(bits, 64) / 64) {
        int level = each->summary_count++;
        each->summary_bits[level] = bits;
        summary_at[level] = reserve(end, rounded(bits, 64) / 8);
        if (summary_at[level] < 0)
            return false;
        if (bits <= 64 || each->summary_count == SV_SPARSE_SUMMARIES)
            return true;
    }
}

static node *node_of(void *mask)
{
    return *(node **)((char *)mask - LINE);
}

static bool connect(sv_sparse_tree *tree, int number)
{
    node *each = &tree->nodes[number];
    each->tree = tree;
    if (each->shape.above < 0)
        return true;
    each->above = &tree->nodes[each->shape.above];
    node **below = realloc(each->above->below, sizeof *below * (size_t)(each->above->below_count + 1));
    if (below == NULL)
        return false;
    each->above->below = below;
    below[each->above->below_count++] = each;
    return true;
}

sv_sparse_tree *sv_sparse_tree_new(size_t data_bytes, bool is_mixed, int count, const sv_sparse_shape *shapes)
{
    sv_sparse_tree *tree = calloc(1, sizeof *tree);
    node *nodes = calloc((size_t)count + 1, sizeof *nodes);
    int64_t(*summary_at)[SV_SPARSE_SUMMARIES] = calloc((size_t)count + 1, sizeof *summary_at);
    int64_t end = 0;
    bool fine = tree != NULL && nodes != NULL && summary_at != NULL && data_bytes < (size_t)INT64_MAX / 4;
    for (int i = 0; i < count; i++) {
        if (nodes != NULL)
            nodes[i].shape = shapes[i];
        else
            free(shapes[i].ranges);
    }
    if (tree == NULL || nodes == NULL) {
        for (int i = 0; nodes != NULL && i < count; i++)
            free(nodes[i].shape.ranges);
        free(tree);
        free(nodes);
        free(summary_at);
        return NULL;
    }
    tree->nodes = nodes;
    tree->count = count;
    tree->is_mixed = is_mixed;
    pthread_mutex_init(&tree->lock, NULL);
    int64_t kept_at = 0;
    if (fine) {
        tree->data_bytes = rounded((int64_t)data_bytes, PAGE);
        fine = reserve(&end, tree->data_bytes) == 0 && (kept_at = reserve(&end, rounded(tree->data_bytes / PAGE, 64) / 8)) >= 0;
    }
    for (int i = 0; fine && i < count; i++)
        fine = plan_node(&nodes[i], &end, summary_at[i]) && connect(tree, i);
    if (fine) {
        tree->reserved = (size_t)rounded(end, PAGE);
        char *data = mmap(NULL, tree->reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        tree->data = data == MAP_FAILED ? NULL : data;
    }
    if (tree->data == NULL) {
        free(summary_at);
        sv_sparse_tree_free(tree);
        return NULL;
    }
#ifdef MADV_HUGEPAGE
    if (tree->data_bytes <= SMALL_TREE)
        madvise(tree->data, (size_t)tree->data_bytes, MADV_HUGEPAGE); /* a hint */
#endif
    tree->is_kept = (void *)(tree->data + kept_at);
    for (int i = 0; i < count; i++) {
        node *each = &nodes[i];
        char *mask = tree->data + each->mask_at;
        *(node **)(mask - LINE) = each;
        each->mask = (void *)mask;
        each->lengths = (void *)mask;
        each->listed = tree->data + each->listed_at;
        for (int level = 0; level < each->summary_count; level++)
            each->summary[level] = (void *)(tree->data + summary_at[i][level]);
    }
    free(summary_at);
    return tree;
}

void sv_sparse_tree_free(sv_sparse_tree *tree)
{
    if (tree->data != NULL)
        munmap(tree->data, tree->reserved);
    for (int i = 0; i < tree->count; i++) {
        free(tree->nodes[i].below);
        free(tree->nodes[i].shape.ranges);
    }
    pthread_mutex_destroy(&tree->lock);
    free(tree->kept);
    free(tree->nodes);
    free(tree);
}

char *sv_sparse_data(sv_sparse_tree *tree)
{
    return tree->data;
}

size_t sv_sparse_reserved(sv_sparse_tree *tree)
{
    return tree->reserved;
}

int64_t sv_sparse_mask(sv_sparse_tree *tree, int number)
{
    return tree->nodes[number].mask_at;
}

int64_t sv_sparse_listed(sv_sparse_tree *tree, int number)
{
    return tree->nodes[number].listed_at;
}

int64_t sv_sparse_kept(sv_sparse_tree *tree)
{
    pthread_mutex_lock(&tree->lock);
    int64_t bytes = tree->kept_count * PAGE;
    pthread_mutex_unlock(&tree->lock);
    return bytes;
}

/* --- activation */

static void note_change(node *each)
{
    if (!atomic_load_explicit(&each->changed, memory_order_relaxed))
        atomic_store(&each->changed, true);
}

static void mark_in_summary(node *each, int64_t cell)
{
    int64_t bit = cell / LINE;
    for (int level = 0; level < each->summary_count; level++, bit /= 64) {
        uint64_t mask = (uint64_t)1 << (bit % 64);
        _Atomic uint64_t *word = &each->summary[level][bit / 64];
        if (!(atomic_load(word) & mask))
            atomic_fetch_or(word, mask);
    }
}

void sv_sparse_activate(void *mask, int64_t cell)
{
    node *each = node_of(mask);
    if (each->shape.is_list) { /* the cells above it */
        if (each->above != NULL)
            sv_sparse_activate((void *)each->above->mask, cell / each->shape.cells_per_above);
        return;
    }
    if (atomic_load(&each->mask[cell]))
        return;
    /* Outer cells first, so that an active cell is always in active ones. The memory is there already, so a thread that loses the
       exchange can use the cell at once. */
    if (each->above != NULL)
        sv_sparse_activate((void *)each->above->mask, cell / each->shape.cells_per_above);
    if (atomic_exchange(&each->mask[cell], 1))
        return;
    mark_in_summary(each, cell);
    atomic_fetch_add_explicit(&each->active, 1, memory_order_relaxed);
    note_change(each);
}

void sv_sparse_reach(void *lengths, int64_t list, int64_t position)
{
    sv_sparse_activate(lengths, list);
    _Atomic int32_t *length = &node_of(lengths)->lengths[list];
    int32_t found = atomic_load(length), wanted = (int32_t)position + 1;
    while (found < wanted && !atomic_compare_exchange_weak(length, &found, wanted)) {
    }
}

/* --- which cells are active */

/* The first bit from `bit` on that is set, or -1. */
static int64_t next_bit(const node *each, int level, int64_t bit)
{
    int64_t bits = each->summary_bits[level];
    while (bit < bits) {
        uint64_t word = atomic_load_explicit(&each->summary[level][bit / 64], memory_order_relaxed) >> (bit % 64);
        if (word)
            return bit + __builtin_ctzll(word);
        int64_t next = bit / 64 + 1;
        if (level + 1 < each->summary_count)
            next = next_bit(each, level + 1, next);
        if (next < 0)
            return -1;
        bit = next * 64;
    }
    return -1;
}

static bool is_empty_line(const node *each, int64_t line)
{
    const _Atomic uint64_t *words = (const void *)(each->mask + line * LINE);
    for (int i = 0; i < LINE / 8; i++)
        if (atomic_load(&words[i]))
            return false;
    return true;
}

/* Remove the marks of a line without active cells. A cell that is activated meanwhile is marked again, here or there. */
static void tidy(node *each, int64_t line)
{
    int64_t bit = line;
    for (int level = 0; level < each->summary_count; level++, bit /= 64) {
        _Atomic uint64_t *word = &each->summary[level][bit / 64];
        uint64_t left = atomic_fetch_and(word, ~((uint64_t)1 << (bit % 64))) & ~((uint64_t)1 << (bit % 64));
        if (level == 0 ? !is_empty_line(each, line) : atomic_load(&each->summary[level - 1][bit]) != 0) {
            mark_in_summary(each, line * LINE);
            return;
        }
        if (left)
            return;
    }
}

/* The first active cell from `cell` on and before `end`, or -1. */
static int64_t next_active(node *each, int64_t cell, int64_t end)
{
    while (cell < end) {
        int64_t line = next_bit(each, 0, cell / LINE);
        if (line < 0)
            return -1;
        if (line * LINE > cell)
            cell = line * LINE;
        int64_t stop = (line + 1) * LINE < end ? (line + 1) * LINE : end;
        for (; cell < stop; cell++) {
            if (cell % 8 == 0 && stop - cell >= 8) {
                uint64_t word = atomic_load_explicit((_Atomic uint64_t *)(void *)&each->mask[cell], memory_order_relaxed);
                if (word == 0) {
                    cell += 7;
                    continue;
                }
                return cell + __builtin_ctzll(word) / 8;
            }
            if (atomic_load_explicit(&each->mask[cell], memory_order_relaxed))
                return cell;
        }
        if (is_empty_line(each, line))
            tidy(each, line);
    }
    return -1;
}

int64_t sv_sparse_list(void *mask)
{
    node *each = node_of(mask);
    sv_sparse_tree *tree = each->tree;
    pthread_mutex_lock(&tree->lock);
    if (atomic_load(&each->changed)) {
        atomic_store(&each->changed, false);
        int64_t count = 0, cells = each->shape.cells;
        int32_t *narrow = each->listed;
        int64_t *wide = each->listed;
        for (int64_t cell = next_active(each, 0, cells); cell >= 0; cell = next_active(each, cell + 1, cells)) {
            if (each->is_wide)
                wide[count++] = cell;
            else
                narrow[count++] = (int32_t)cell;
        }
        each->listed_count = count;
    }
    int64_t count = each->listed_count;
    pthread_mutex_unlock(&tree->lock);
    return count;
}

int64_t sv_sparse_next(void *mask, int64_t cell)
{
    node *each = node_of(mask);
    if (!each->shape.is_list)
        return next_active(each, cell, each->shape.cells);
    for (; cell < each->shape.cells; cell++) {
        int64_t within = each->above == NULL ? 0 : cell / each->shape.cells_per_above;
        if (each->above != NULL && !atomic_load(&each->above->mask[within])) {
            within = next_active(each->above, within, each->above->shape.cells);
            if (within < 0)
                return -1;
            cell = within * each->shape.cells_per_above;
        }
        if (atomic_load_explicit(&each->lengths[cell], memory_order_relaxed))
            return cell;
    }
    return -1;
}

int64_t sv_sparse_length(void *lengths, int64_t list)
{
    const node *each = node_of(lengths);
    int64_t length = atomic_load(&each->lengths[list]);
    return length < each->shape.capacity ? length : each->shape.capacity;
}

int64_t sv_sparse_active(void *mask)
{
    node *each = node_of(mask);
    if (!each->shape.is_list)
        return atomic_load(&each->active);
    int64_t total = 0;
    for (int64_t list = sv_sparse_next(mask, 0); list >= 0; list = sv_sparse_next(mask, list + 1))
        total += sv_sparse_length(mask, list);
    return total;
}

/* --- deactivation */

static char *cell_at(const node *each, int64_t cell)
{
    int64_t offset = each->shape.start;
    for (int i = 0; i < each->shape.level_count; i++) {
        const sv_sparse_level *level = &each->shape.levels[i];
        offset += cell / level->divisor % level->extent * level->stride;
    }
    return each->tree->data + offset;
}

/* Zero memory, and note its pages. A page that is shared with other cells is noted too: it is only given back when no cell of
   the tree is active. */
static void clear(node *each, char *begin, int64_t bytes)
{
    sv_sparse_tree *tree = each->tree;
    memset(begin, 0, (size_t)bytes);
    int64_t first = (begin - tree->data) / PAGE, last = (begin - tree->data + bytes - 1) / PAGE;
    if (tree->is_mixed) { /* only whole pages */
        first = rounded(begin - tree->data, PAGE) / PAGE;
        last = (begin - tree->data + bytes) / PAGE - 1;
    }
    for (int64_t page = first; page <= last; page++) {
        uint64_t bit = (uint64_t)1 << (page % 64);
        _Atomic uint64_t *word = &tree->is_kept[page / 64];
        if ((atomic_load_explicit(word, memory_order_relaxed) & bit) || (atomic_fetch_or(word, bit) & bit))
            continue;
        pthread_mutex_lock(&tree->lock);
        if (tree->kept_count == tree->kept_capacity) {
            int64_t capacity = tree->kept_capacity ? 2 * tree->kept_capacity : 64;
            int64_t *more = realloc(tree->kept, sizeof *more * (size_t)capacity);
            if (more != NULL) {
                tree->kept = more;
                tree->kept_capacity = capacity;
            }
        }
        if (tree->kept_count < tree->kept_capacity) /* otherwise it stays with the tree */
            tree->kept[tree->kept_count++] = page;
        pthread_mutex_unlock(&tree->lock);
    }
    atomic_fetch_add_explicit(&tree->cleared, bytes, memory_order_relaxed);
}

static void clear_list(node *each, int64_t list)
{
    int64_t length = atomic_exchange(&each->lengths[list], 0);
    if (length > each->shape.capacity)
        length = each->shape.capacity;
    if (length > 0)
        clear(each, cell_at(each, list), length * each->shape.item_bytes);
}

static void clear_cells(node *each, int64_t begin, int64_t end);

/* Zero an active cell and everything in it. */
static void clear_cell(node *each, int64_t cell)
{
    for (int i = 0; i < each->below_count; i++) {
        int64_t inside = each->below[i]->shape.cells_per_above;
        clear_cells(each->below[i], cell * inside, (cell + 1) * inside);
    }
    char *begin = cell_at(each, cell);
    for (int i = 0; i < each->shape.range_count; i++)
        clear(each, begin + each->shape.ranges[i].offset, each->shape.ranges[i].bytes);
    if (atomic_exchange(&each->mask[cell], 0)) {
        atomic_fetch_sub_explicit(&each->active, 1, memory_order_relaxed);
        note_change(each);
    }
}

static void clear_cells(node *each, int64_t begin, int64_t end)
{
    if (each->shape.is_list) {
        for (int64_t list = begin; list < end; list++)
            if (atomic_load_explicit(&each->lengths[list], memory_order_relaxed))
                clear_list(each, list);
        return;
    }
    for (int64_t cell = next_active(each, begin, end); cell >= 0; cell = next_active(each, cell + 1, end))
        clear_cell(each, cell);
}

void sv_sparse_deactivate(void *mask, int64_t cell)
{
    node *each = node_of(mask);
    if (each->shape.is_list)
        clear_list(each, cell);
    else if (atomic_load(&each->mask[cell]))
        clear_cell(each, cell);
}

static int by_number(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Give back all inactive pages, if there are many more than were just in use. Only called while no cell is active; pages at
   the ends of a run may also hold other things, and stay. */
static void release(sv_sparse_tree *tree)
{
    int64_t used = atomic_exchange(&tree->cleared, 0) / PAGE;
    if (tree->kept_count <= KEPT_PAGES + 2 * used)
        return;
    qsort(tree->kept, (size_t)tree->kept_count, sizeof *tree->kept, by_number);
    for (int64_t first = 0, next; first < tree->kept_count; first = next) {
        for (next = first + 1; next < tree->kept_count && tree->kept[next] == tree->kept[next - 1] + 1;)
            next++;
        madvise(tree->data + tree->kept[first] * PAGE, (size_t)((tree->kept[next - 1] - tree->kept[first] + 1) * PAGE), MADV_DONTNEED);
    }
    for (int64_t i = 0; i < tree->kept_count; i++)
        atomic_store_explicit(&tree->is_kept[tree->kept[i] / 64], 0, memory_order_relaxed);
    tree->kept_count = 0;
}

void sv_sparse_deactivate_all(void *mask)
{
    node *each = node_of(mask);
    sv_sparse_tree *tree = each->tree;
    if (each->shape.is_list)
        for (int64_t list = sv_sparse_next(mask, 0); list >= 0; list = sv_sparse_next(mask, list + 1))
            clear_list(each, list);
    else
        clear_cells(each, 0, each->shape.cells);
    for (int i = 0; i < tree->count; i++) /* inner nodes are in these */
        if (tree->nodes[i].above == NULL && sv_sparse_next((void *)tree->nodes[i].mask, 0) >= 0)
            return;
    pthread_mutex_lock(&tree->lock);
    release(tree);
    pthread_mutex_unlock(&tree->lock);
}
