/* Tasks that need no function of their own: plain loops (see samovar.passes.plain_loops) whose body takes the addresses of the
   first elements of its range, and integers from the argument block. */
#include "runtime.h"

#include <string.h>

enum { MOST_ARGUMENTS = 8 };

/* What generated code describes such a task by; see samovar.ir.runtime_interface. */
typedef struct {
    void *body;
    int64_t low;   /* what the loop begins with */
    int64_t count; /* of arguments, MOST_ARGUMENTS at most */
    struct {
        int64_t offset; /* in the argument block */
        int64_t size;   /* of an element, or 0: the slot is an integer */
    } arguments[];
} elements;

#define A(number) int64_t a##number
#define CALL(parameters, ...)                                                                                             \
    {                                                                                                                     \
        void (*body)parameters;                                                                                           \
        memcpy(&body, &self->body, sizeof body);                                                                          \
        body(__VA_ARGS__, first, number);                                                                                 \
        break;                                                                                                            \
    }

void sv_elements(void *frame, int64_t begin, int64_t end)
{
    void *const *slots = frame;
    const uint8_t *block = slots[0];
    const elements *self = slots[1];
    int64_t first = self->low + begin, number = end - begin, v[MOST_ARGUMENTS];
    for (int64_t i = 0; i < self->count; i++) {
        memcpy(&v[i], block + self->arguments[i].offset, sizeof v[i]);
        v[i] = (int64_t)((uint64_t)v[i] + (uint64_t)first * (uint64_t)self->arguments[i].size);
    }
    switch (self->count) {
    case 1: CALL((A(0), A(1), A(2)), v[0])
    case 2: CALL((A(0), A(1), A(2), A(3)), v[0], v[1])
    case 3: CALL((A(0), A(1), A(2), A(3), A(4)), v[0], v[1], v[2])
    case 4: CALL((A(0), A(1), A(2), A(3), A(4), A(5)), v[0], v[1], v[2], v[3])
    case 5: CALL((A(0), A(1), A(2), A(3), A(4), A(5), A(6)), v[0], v[1], v[2], v[3], v[4])
    case 6: CALL((A(0), A(1), A(2), A(3), A(4), A(5), A(6), A(7)), v[0], v[1], v[2], v[3], v[4], v[5])
    case 7: CALL((A(0), A(1), A(2), A(3), A(4), A(5), A(6), A(7), A(8)), v[0], v[1], v[2], v[3], v[4], v[5], v[6])
    case 8: CALL((A(0), A(1), A(2), A(3), A(4), A(5), A(6), A(7), A(8), A(9)), v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7])
    default: Py_UNREACHABLE();
    }
}
