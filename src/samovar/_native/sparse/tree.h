/* Sparse trees: fields of which only some cells are in use. Plain C without Python, so that it can be tested by itself.

   A tree reserves address space for all of its cells, in the layout of a dense tree; the system provides zeroed pages for
   those that are written. So the address of an element is the same arithmetic as in a dense tree, and reading an inactive
   cell gives 0. Each sparse node has a byte per cell, its mask, that tells which cells are active, and above it a summary:
   bitmaps of which lines of the mask, words of those bitmaps, … are in use. Invariants: an active cell is in active cells
   of the nodes above; inactive cells are zero.

   A node of lists (`dynamic`) has a 32-bit length per list instead; the elements behind the length are zero. */
#ifndef SAMOVAR_SPARSE_TREE_H
#define SAMOVAR_SPARSE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SV_SPARSE_LEVELS = 16, SV_SPARSE_SUMMARIES = 8 };

/* The offset of a cell is the sum of the digits of its number, each times a stride. */
typedef struct {
    int64_t divisor;
    int64_t extent;
    int64_t stride; /* in bytes */
} sv_sparse_level;

/* Bytes of a cell, as seen from its beginning. */
typedef struct {
    int64_t offset;
    int64_t bytes;
} sv_sparse_range;

/* One node, as described by its creator. Nodes come after those above them. */
typedef struct {
    int above;                /* the nearest sparse node above, or -1 */
    bool is_list;             /* it has lengths, not a mask */
    int64_t cells;            /* of the whole tree; for a node of lists, the number of lists */
    int64_t cells_per_above;  /* of one cell of the node above */
    int64_t start;            /* the offset of the first cell in bytes */
    int64_t item_bytes;       /* of a cell; for a node of lists, of an element of a list */
    int64_t capacity;         /* the maximum length of a list */
    int level_count;
    sv_sparse_level levels[SV_SPARSE_LEVELS];
    int range_count;          /* the parts of a cell that do not belong to sparse nodes in it */
    sv_sparse_range *ranges;
} sv_sparse_shape;

typedef struct sv_sparse_tree sv_sparse_tree;

/* A tree with zeroed cells, or NULL if the address space or memory is exhausted. Takes over the ranges in any case. `is_mixed`:
   it also has memory outside sparse nodes. */
sv_sparse_tree *sv_sparse_tree_new(size_t data_bytes, bool is_mixed, int count, const sv_sparse_shape *shapes);
void sv_sparse_tree_free(sv_sparse_tree *tree);

char *sv_sparse_data(sv_sparse_tree *tree);    /* the reserved memory, which begins with the cells */
size_t sv_sparse_reserved(sv_sparse_tree *tree);
int64_t sv_sparse_mask(sv_sparse_tree *tree, int node); /* the offset of a mask, or of lengths, in bytes */
int64_t sv_sparse_listed(sv_sparse_tree *tree, int node); /* the offset of the numbers written by `sv_sparse_list` */
bool sv_sparse_is_wide(const sv_sparse_shape *shape); /* these are int64_t instead of int32_t */
int64_t sv_sparse_kept(sv_sparse_tree *tree); /* how many bytes of inactive cells have pages of the system */

/* Called by generated code with the address of a mask (or of lengths). All are safe on any number of threads, except that a
   cell must not be activated and deactivated at the same time. */
void sv_sparse_activate(void *mask, int64_t cell);
void sv_sparse_deactivate(void *mask, int64_t cell);
/* The first active cell, or list with elements, from `cell` on; -1 if there is none. */
int64_t sv_sparse_next(void *mask, int64_t cell);
/* The length of a list. */
int64_t sv_sparse_length(void *lengths, int64_t list);
/* Extend a list so that it has an element at a position. */
void sv_sparse_reach(void *lengths, int64_t list, int64_t position);
/* Write the numbers of the active cells in increasing order; returns how many there are. */
int64_t sv_sparse_list(void *mask);

/* Deactivate all cells, and give memory back that is not likely to be used again soon. */
void sv_sparse_deactivate_all(void *mask);
/* The number of active cells; for a node of lists, of elements. */
int64_t sv_sparse_active(void *mask);

#endif
