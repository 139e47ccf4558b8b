/* The steps of the radix sort for one key size and one value size, included once per pair: KEY and NAME (which forms the
   function names), and VALUE if there are values. */
#ifdef VALUE
#define MOVE(to, place, from, at) (to##_keys[place] = from##_keys[at], to##_values[place] = from##_values[at])
#else
#define MOVE(to, place, from, at) (to##_keys[place] = from##_keys[at])
#endif

/* Histogram the digits of parts. */
static void NAME(count)(void *frame, int64_t begin, int64_t end)
{
    const sorting *work = frame;
    const KEY *keys = (const KEY *)work->keys;
    KEY mask = (KEY)(((uint64_t)1 << (work->bits - work->shift)) - 1);
    for (int64_t part = begin; part < end; part++) {
        int64_t *counts = work->counts + part * WIDE, last = end_of_part(work, part);
        memset(counts, 0, sizeof *counts * WIDE);
        for (int64_t at = part * work->part; at < last; at++)
            counts[(keys[at] >> work->shift) & mask]++;
    }
}

/* Scatter the elements of parts to the buckets of their digits. */
static void NAME(deal)(void *frame, int64_t begin, int64_t end)
{
    const sorting *work = frame;
    const KEY *from_keys = (const KEY *)work->keys;
    KEY *to_keys = (KEY *)work->other_keys;
#ifdef VALUE
    const VALUE *from_values = (const VALUE *)work->values;
    VALUE *to_values = (VALUE *)work->other_values;
#endif
    KEY mask = (KEY)(((uint64_t)1 << (work->bits - work->shift)) - 1);
    for (int64_t part = begin; part < end; part++) {
        int64_t *places = work->counts + part * WIDE, last = end_of_part(work, part);
        for (int64_t at = part * work->part; at < last; at++) {
            int64_t place = places[(from_keys[at] >> work->shift) & mask]++;
            MOVE(to, place, from, at);
        }
    }
}

#ifdef VALUE
#define RANGE KEY *from_keys, KEY *to_keys, VALUE *from_values, VALUE *to_values
#define ROOM(from, to, at) from##_keys + (at), to##_keys + (at), from##_values + (at), to##_values + (at)
#else
#define RANGE KEY *from_keys, KEY *to_keys
#define ROOM(from, to, at) from##_keys + (at), to##_keys + (at)
#endif

/* Insertion sort in place, which gives up if elements have to move too far in total. */
static bool NAME(inserted)(RANGE, int64_t size, int64_t budget)
{
    (void)to_keys;
#ifdef VALUE
    (void)to_values;
#endif
    for (int64_t at = 1; at < size; at++) {
        if (from_keys[at - 1] <= from_keys[at])
            continue;
        KEY key = from_keys[at];
        int64_t place = at;
#ifdef VALUE
        VALUE value = from_values[at];
#endif
        for (; place > 0 && from_keys[place - 1] > key; place--)
            MOVE(from, place, from, place - 1);
        from_keys[place] = key;
#ifdef VALUE
        from_values[place] = value;
#endif
        budget -= at - place;
        if (budget < 0)
            return false;
    }
    return true;
}

/* Move elements to the position of their digit, given the histogram. */
static void NAME(moved)(RANGE, int64_t size, uint32_t *places, int shift)
{
    uint32_t before = 0;
    for (int digit = 0; digit < DIGITS; digit++) {
        uint32_t own = places[digit];
        places[digit] = before;
        before += own;
    }
    for (int64_t at = 0; at < size; at++) {
        uint32_t place = places[(from_keys[at] >> shift) & (DIGITS - 1)]++;
        MOVE(to, place, from, at);
    }
}

/* Sort by the bits from `low` up to `bits`, digit by digit. Returns whether the elements end in `from`. */
static bool NAME(by_digits)(RANGE, int64_t size, int low, int bits)
{
    bool here = true;
    uint32_t places[DIGITS];
    for (int shift = low; shift < bits; shift += DIGIT_BITS) {
        const KEY *keys = here ? from_keys : to_keys;
        memset(places, 0, sizeof places);
        for (int64_t at = 0; at < size; at++)
            places[(keys[at] >> shift) & (DIGITS - 1)]++;
        if (places[(keys[0] >> shift) & (DIGITS - 1)] == size)
            continue;
        if (here)
            NAME(moved)(ROOM(from, to, 0), size, places, shift);
        else
            NAME(moved)(ROOM(to, from, 0), size, places, shift);
        here = !here;
    }
    return here;
}

/* Sort `size` elements in `from` by their lowest bits; they end in `to` if `across` is set. */
static void NAME(sorted)(RANGE, int64_t size, int bits, bool across)
{
    bool here = true; /* where the elements are: in `from` */
    if (bits > 0 && size <= FEW) {
        NAME(inserted)(ROOM(from, to, 0), size, INT64_MAX);
    } else if (bits > 0 && size * (int64_t)sizeof(KEY) > CACHED) {
        int shift = bits - dealing_bits(size, bits);
        int64_t places[DIGITS] = {0}, before = 0;
        KEY mask = (KEY)(((uint64_t)1 << (bits - shift)) - 1);
        for (int64_t at = 0; at < size; at++)
            places[(from_keys[at] >> shift) & mask]++;
        for (int digit = 0; digit <= (int)mask; digit++) {
            int64_t own = places[digit];
            places[digit] = before;
            before += own;
        }
        for (int64_t at = 0; at < size; at++) {
            int64_t place = places[(from_keys[at] >> shift) & mask]++;
            MOVE(to, place, from, at);
        }
        before = 0;
        for (int digit = 0; digit <= (int)mask; before = places[digit++])
            NAME(sorted)(ROOM(to, from, before), places[digit] - before, shift, !across);
        return;
    } else if (bits > (LEADING + 1) * DIGIT_BITS) {
        here = NAME(by_digits)(ROOM(from, to, 0), size, bits - LEADING * DIGIT_BITS, bits);
        bool done = here ? NAME(inserted)(ROOM(from, to, 0), size, DISTANCE * size) : NAME(inserted)(ROOM(to, from, 0), size, DISTANCE * size);
        if (!done)
            here = here ? NAME(by_digits)(ROOM(from, to, 0), size, 0, bits) : !NAME(by_digits)(ROOM(to, from, 0), size, 0, bits);
    } else if (bits > 0) {
        here = NAME(by_digits)(ROOM(from, to, 0), size, 0, bits);
    }
    if (here == across) {
        memcpy(here ? to_keys : from_keys, here ? from_keys : to_keys, (size_t)size * sizeof(KEY));
#ifdef VALUE
        memcpy(here ? to_values : from_values, here ? from_values : to_values, (size_t)size * sizeof(VALUE));
#endif
    }
}

/* Sort the elements from `begin` to `end` of a range. */
static void NAME(range)(const sorting *work, int64_t begin, int64_t end, int bits, bool across)
{
    KEY *keys = (KEY *)work->keys + begin, *other_keys = (KEY *)work->other_keys + begin;
#ifdef VALUE
    VALUE *values = (VALUE *)work->values + begin, *other_values = (VALUE *)work->other_values + begin;
    NAME(sorted)(keys, other_keys, values, other_values, end - begin, bits, across);
#else
    NAME(sorted)(keys, other_keys, end - begin, bits, across);
#endif
}

/* Sort the buckets of the partition, by digit; large ones are left. */
static void NAME(finish)(void *frame, int64_t begin, int64_t end)
{
    const sorting *work = frame;
    const int64_t *ends = work->counts + ((work->size + work->part - 1) / work->part - 1) * WIDE;
    sorting dealt = *work;
    dealt.keys = work->other_keys;
    dealt.other_keys = work->keys;
    dealt.values = work->other_values;
    dealt.other_values = work->values;
    for (int64_t digit = begin; digit < end; digit++) {
        int64_t first = digit == 0 ? 0 : ends[digit - 1];
        if (ends[digit] - first <= work->largest)
            NAME(range)(&dealt, first, ends[digit], work->shift, !work->across);
    }
}
#undef MOVE
#undef RANGE
#undef ROOM
#undef KEY
#undef VALUE
#undef NAME
