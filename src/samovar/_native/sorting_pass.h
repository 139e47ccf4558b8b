/* One pass of a radix sort for keys and values of one size each, included once for each pair: KEY and PASS, VALUE if there are values. */
static void PASS(void *frame, int64_t begin, int64_t end)
{
    const sorting *work = frame;
    const KEY *keys = work->keys;
    KEY *sorted = work->sorted_keys;
#ifdef VALUE
    const VALUE *values = work->values;
    VALUE *sorted_values = work->sorted_values;
#endif
    int shift = work->shift;
    for (int64_t part = begin; part < end; part++) {
        int64_t places[DIGITS];
        memcpy(places, work->counts + part * DIGITS, sizeof places);
        int64_t last = end_of_part(work, part);
        for (int64_t at = part * work->part; at < last; at++) {
            KEY key = keys[at];
            int64_t place = places[(key >> shift) & (DIGITS - 1)]++;
            sorted[place] = key;
#ifdef VALUE
            sorted_values[place] = values[at];
#endif
        }
    }
}
#undef KEY
#undef PASS
#undef VALUE
