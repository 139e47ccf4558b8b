/* Many threads activate the same cells of a sparse tree, write to them, and deactivate others; run under TSan and ASan. */
#include "sparse/tree.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 8, OUTER = 512, INNER = 64, ELEMENTS = 32, TOUCHED = 20000 };

static sv_sparse_tree *tree;
static void *outer, *inner;
static int64_t chosen[TOUCHED];

static void require(bool holds, const char *what)
{
    if (!holds) {
        fprintf(stderr, "failed: %s\n", what);
        exit(1);
    }
}

static _Atomic int32_t *element(int64_t cell, int64_t position)
{
    return (_Atomic int32_t *)(void *)(sv_sparse_data(tree) + (cell * ELEMENTS + position) * (int64_t)sizeof(int32_t));
}

static void *activate_all(void *argument)
{
    int64_t first = *(const int64_t *)argument;
    for (int64_t i = 0; i < TOUCHED; i++) { /* all threads the same cells, in different order */
        int64_t cell = chosen[(i + first) % TOUCHED];
        sv_sparse_activate(inner, cell);
        atomic_fetch_add_explicit(element(cell, i % ELEMENTS), 1, memory_order_relaxed);
    }
    return NULL;
}

static void *deactivate_some(void *argument)
{
    int64_t rest = *(const int64_t *)argument;
    for (int64_t cell = rest; cell < OUTER; cell += THREADS)
        if (cell % 3 == 0)
            sv_sparse_deactivate(outer, cell);
    return NULL;
}

static void on_all(void *(*run)(void *))
{
    pthread_t threads[THREADS];
    int64_t numbers[THREADS];
    for (int64_t i = 0; i < THREADS; i++) {
        numbers[i] = i;
        require(pthread_create(&threads[i], NULL, run, &numbers[i]) == 0, "a thread starts");
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

int main(int count, char **words)
{
    int rounds = count > 1 ? atoi(words[1]) : 100;
    sv_sparse_range *whole = calloc(1, sizeof *whole);
    require(whole != NULL, "memory");
    whole->bytes = ELEMENTS * (int64_t)sizeof(int32_t);
    sv_sparse_shape shapes[2] = {
        {.above = -1, .cells = OUTER, .cells_per_above = OUTER, .item_bytes = INNER * whole->bytes, .level_count = 1,
         .levels = {{1, OUTER, INNER * whole->bytes}}},
        {.above = 0, .cells = OUTER * INNER, .cells_per_above = INNER, .item_bytes = whole->bytes, .level_count = 1,
         .levels = {{1, OUTER * INNER, whole->bytes}}, .range_count = 1, .ranges = whole},
    };
    tree = sv_sparse_tree_new((size_t)(OUTER * INNER * whole->bytes), false, 2, shapes);
    require(tree != NULL, "a tree");
    outer = sv_sparse_data(tree) + sv_sparse_mask(tree, 0);
    inner = sv_sparse_data(tree) + sv_sparse_mask(tree, 1);
    srand(1);
    for (int round = 0; round < rounds; round++) {
        static bool is_chosen[OUTER * INNER], is_above[OUTER];
        int64_t distinct = 0, above = 0, found = 0, sum = 0, wrong = 0;
        for (int64_t i = 0; i < OUTER * INNER; i++)
            is_chosen[i] = false;
        for (int64_t i = 0; i < OUTER; i++)
            is_above[i] = false;
        for (int64_t i = 0; i < TOUCHED; i++) {
            chosen[i] = rand() % (OUTER * INNER / (1 + round % 4));
            distinct += !is_chosen[chosen[i]];
            above += !is_above[chosen[i] / INNER];
            is_chosen[chosen[i]] = is_above[chosen[i] / INNER] = true;
        }
        on_all(activate_all);
        require(sv_sparse_active(inner) == distinct && sv_sparse_list(inner) == distinct, "each cell is activated once");
        require(sv_sparse_active(outer) == above && sv_sparse_list(outer) == above, "so are those above");
        const int32_t *listed = (const void *)(sv_sparse_data(tree) + sv_sparse_listed(tree, 1));
        for (int64_t i = 0; i < distinct; i++)
            wrong += !is_chosen[listed[i]] || (i > 0 && listed[i - 1] >= listed[i]);
        require(wrong == 0, "active cells are listed in order");
        for (int64_t cell = 0; cell < OUTER * INNER; cell++)
            for (int64_t i = 0; i < ELEMENTS; i++)
                sum += atomic_load_explicit(element(cell, i), memory_order_relaxed);
        require(sum == (int64_t)THREADS * TOUCHED, "no update is lost");
        on_all(deactivate_some);
        for (int64_t cell = 0; cell < OUTER * INNER; cell++) {
            bool stays = is_chosen[cell] && (cell / INNER) % 3 != 0;
            found += stays;
            for (int64_t i = 0; !stays && i < ELEMENTS; i++)
                wrong += atomic_load_explicit(element(cell, i), memory_order_relaxed) != 0;
        }
        require(wrong == 0, "inactive cells are zero");
        require(sv_sparse_list(inner) == found && sv_sparse_active(inner) == found, "others stay active");
        sv_sparse_deactivate_all(outer);
        require(sv_sparse_list(inner) == 0 && sv_sparse_list(outer) == 0, "all are inactive");
        for (int64_t cell = 0; cell < OUTER * INNER; cell++)
            for (int64_t i = 0; i < ELEMENTS; i++)
                wrong += atomic_load_explicit(element(cell, i), memory_order_relaxed) != 0;
        require(wrong == 0, "all memory is zero");
    }
    sv_sparse_tree_free(tree);
    return 0;
}
