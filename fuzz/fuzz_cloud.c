/* SPDX-License-Identifier: MIT */
/* A few spheres among themselves, in exact mode: the list and its columns against the reference, pair by pair; first,
 * any and counted partners against the list; the same bits from both backends, also where the list is cut. */
#include "fuzz.h"
#include "queries/cloud_list.h"
#include "tests/support/cloud_records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 8, ROOM = 2 * CLOUD_IMAGES * MOST * MOST, NUMBERS = 10 };
enum { MOVES = 1, MASKED = 2, LIMITED = 4, PERIODIC = 8, MARGIN = 16, FULL = 32, SAME_PLACES = 64, GROUPED = 128 };

typedef struct cloud {
    size_t count;
    unsigned flags;
    float center[3 * MOST], velocity[3 * MOST], radius[MOST], t_max[MOST];
    uint32_t mask[MOST], group[MOST];
    carom_cloud_desc desc;
} cloud;

typedef struct pair {
    cloud_record record;
    ref_cloud_answer answer;
} pair;

typedef struct pairs {
    size_t count;
    pair at[ROOM];
} pairs;

static _Noreturn void give_up(const char *what, const char *label, const cloud *c)
{
    float numbers[MOST * NUMBERS];
    for (size_t i = 0; i < c->count; i++) {
        memcpy(numbers + NUMBERS * i, c->center + 3 * i, 3 * sizeof(float));
        numbers[NUMBERS * i + 3] = c->radius[i];
        memcpy(numbers + NUMBERS * i + 4, c->velocity + 3 * i, 3 * sizeof(float));
        numbers[NUMBERS * i + 7] = (float)c->mask[i];
        numbers[NUMBERS * i + 8] = (float)c->group[i];
        numbers[NUMBERS * i + 9] = c->t_max[i];
    }
    fuzz_fail(what, label, numbers, c->count * NUMBERS); /* as carom spheres --cloud has them */
}

static float length_of(fuzz_source *s)
{
    const float x = fuzz_radius(s);
    return x >= 0 && x < INFINITY ? x : 0.0f;
}

static void make_cloud(fuzz_source *s, cloud *c)
{
    const unsigned start = fuzz_byte(s) % 3;
    c->flags = fuzz_byte(s);
    c->count = 2 + fuzz_byte(s) % (MOST - 1);
    for (size_t i = 0; i < c->count; i++) {
        fuzz_vector(s, c->center + 3 * i);
        if (c->flags & SAME_PLACES && i % 3 == 2)
            memcpy(c->center + 3 * i, c->center + 3 * i - 3, 3 * sizeof(float));
        c->radius[i] = fuzz_radius(s);
        fuzz_vector(s, c->velocity + 3 * i);
        c->mask[i] = fuzz_byte(s) % 8;
        c->group[i] = fuzz_byte(s) % 8;
        c->t_max[i] = fuzz_byte(s) % 4 ? length_of(s) : INFINITY;
    }
    c->desc = (carom_cloud_desc){
        .batch = {.size = sizeof c->desc, .count = c->count, .accuracy = CAROM_ACCURACY_EXACT},
        .center = carom_xyz(c->center),
        .radius = carom_scalars_of(c->radius),
        .start = (carom_start)start,
        .full = (c->flags & FULL) != 0,
    };
    if (c->flags & MOVES)
        c->desc.velocity = carom_xyz(c->velocity);
    else if (c->flags & MARGIN)
        c->desc.margin = length_of(s);
    if (c->flags & LIMITED)
        c->desc.t_max = carom_scalars_of(c->t_max);
    if (c->flags & MASKED)
        c->desc.mask = carom_uints_of(c->mask);
    if (c->flags & GROUPED)
        c->desc.group = carom_uints_of(c->group);
    for (int k = 0; k < 3 && c->flags & PERIODIC; k++)
        c->desc.period[k] = length_of(s);
}

/* ---- the truth --------------------------------------------------------------------------------------------------- */

/* Whether the pair is in the list: b at its image. */
static int find_pair(const cloud *c, pair *p)
{
    return cloud_record_truth(&c->desc, &p->record, &p->answer);
}

static int compare(const void *one, const void *other)
{
    return cloud_record_order(&((const pair *)one)->record, &((const pair *)other)->record);
}

static void add(pairs *to, const cloud *c, const pair *p)
{
    to->at[to->count++] = *p;
    if (!c->desc.full)
        return;
    pair *turned = &to->at[to->count++];
    *turned = *p;
    turned->record.a = p->record.b;
    turned->record.b = p->record.a;
    for (int k = 0; k < 3; k++)
        turned->record.shift[k] = (int8_t)-p->record.shift[k];
    ref_cloud_turn(&turned->answer);
}

static void find_pairs(const cloud *c, pairs *out)
{
    out->count = 0;
    for (size_t a = 0; a < c->count; a++)
        for (size_t b = a + 1; b < c->count; b++)
            for (int image = 0; image < CLOUD_IMAGES; image++) {
                pair p = {.record = {.a = (int32_t)a, .b = (int32_t)b}};
                cloud_shift_of(image, p.record.shift);
                if (cloud_may_pair(&c->desc, a, b, p.record.shift) && find_pair(c, &p))
                    add(out, c, &p);
            }
    qsort(out->at, out->count, sizeof *out->at, compare);
}

/* ---- the answers ------------------------------------------------------------------------------------------------- */

/* A list with all columns, of all pieces. */
typedef struct answers {
    size_t count;
    carom_cloud_pair_list list;
} answers;

static void clear(answers *out)
{
    out->count = 0;
    if (out->list.size != 0)
        return;
    out->list = (carom_cloud_pair_list){.size = sizeof out->list, .capacity = ROOM};
    const size_t bytes = query_list_lay_out(&out->list, MOST, NULL);
    void *memory = calloc(bytes, 1);
    if (!memory)
        abort();
    (void)query_list_lay_out(&out->list, MOST, memory);
    out->list.offsets = NULL;
}

/* Adds the pairs of spheres from `begin` on, so many at most. Returns the sphere to go on from. */
static uint64_t ask_list(int backend, const cloud *c, uint64_t begin, size_t room, answers *out)
{
    carom_cloud_desc d = c->desc;
    carom_list_totals totals;
    carom_error err = {0};
    carom_cloud_pair_list list = out->list;
    query_list_skip(&list, out->count);
    list.capacity = room < ROOM - out->count ? room : ROOM - out->count;
    list.totals = &totals;
    d.batch.begin = begin;
    fuzz_check_call(carom_cloud_list(fuzz_context(backend), &d, &list, NULL, &err), &err, NULL);
    out->count += totals.stored;
    return totals.complete;
}

static int is_true(const carom_cloud_pair_list *got, size_t i, const pair *wanted)
{
    const cloud_record *w = &wanted->record;
    return got->a[i] == w->a && got->b[i] == w->b && got->state[i] == w->state &&
           memcmp(&got->t[i], &w->t, sizeof w->t) == 0 && memcmp(got->shift + 3 * i, w->shift, sizeof w->shift) == 0 &&
           query_list_judge(got, i, &wanted->answer) == NULL;
}

static void check_partners(int backend, const cloud *c, const pairs *truth)
{
    carom_cloud_desc d = c->desc;
    int32_t best[MOST], other[MOST];
    float least[MOST], t[MOST];
    uint32_t count[MOST] = {0}, partners[MOST];
    uint8_t hit[MOST];
    carom_error err = {0};
    const carom_cloud_partner_result first = {.size = sizeof first, .other = other, .t = t};
    const carom_any_result any = {.size = sizeof any, .hit = hit};
    const carom_cloud_count_result counts = {.size = sizeof counts, .partners = partners};
    for (size_t i = 0; i < c->count; i++) {
        best[i] = -1;
        least[i] = INFINITY;
    }
    for (size_t k = 0; k < (c->desc.full ? 1 : 2) * truth->count; k++) {
        const cloud_record *p = &truth->at[c->desc.full ? k : k / 2].record;
        const int turned = !c->desc.full && k % 2;
        const int32_t own = turned ? p->b : p->a, with = turned ? p->a : p->b;
        count[own]++;
        if (best[own] < 0 || p->t < least[own] || (p->t <= least[own] && with < best[own])) {
            best[own] = with;
            least[own] = p->t;
        }
    }
    d.full = 0;
    fuzz_check_call(carom_cloud_count(fuzz_context(backend), &d, &counts, NULL, &err), &err, NULL);
    for (size_t i = 0; i < c->count; i++)
        if (partners[i] != (cloud_is_valid(&c->desc, i) ? count[i] : CAROM_COUNT_INVALID))
            give_up("a wrong number of partners", fuzz_backend_name(backend), c);
    if (d.margin > 0)
        return;
    fuzz_check_call(carom_cloud_first(fuzz_context(backend), &d, &first, NULL, &err), &err, NULL);
    fuzz_check_call(carom_cloud_any(fuzz_context(backend), &d, &any, NULL, &err), &err, NULL);
    for (size_t i = 0; i < c->count; i++) {
        if (other[i] != best[i] || memcmp(&t[i], &least[i], sizeof *t) != 0)
            give_up("a wrong first partner", fuzz_backend_name(backend), c);
        if (hit[i] != (cloud_is_valid(&c->desc, i) ? best[i] >= 0 : CAROM_OVERLAP_INVALID))
            give_up("any partner is wrong", fuzz_backend_name(backend), c);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static cloud c;
    static pairs truth;
    static answers got[FUZZ_BACKENDS], cut;
    fuzz_source s = fuzz_open(data, size);
    memset(&c, 0, sizeof c);
    make_cloud(&s, &c);
    find_pairs(&c, &truth);
    for (int b = 0; b < FUZZ_BACKENDS; b++) {
        clear(&got[b]);
        ask_list(b, &c, 0, ROOM, &got[b]);
        if (got[b].count != truth.count)
            give_up("a wrong number of pairs", fuzz_backend_name(b), &c);
        for (size_t i = 0; i < truth.count; i++)
            if (!is_true(&got[b].list, i, &truth.at[i]))
                give_up("a wrong pair", fuzz_backend_name(b), &c);
        check_partners(b, &c, &truth);
    }
    clear(&cut);
    for (uint64_t begin = 0, room = 1 + truth.count / 3; begin < c.count; room *= 2)
        begin = ask_list(1, &c, begin, room, &cut);
    if (query_list_differs(&got[0].list, &got[1].list, truth.count) >= 0)
        give_up("two backends differ in a bit", fuzz_backend_name(1), &c);
    if (cut.count != truth.count || query_list_differs(&got[0].list, &cut.list, truth.count) >= 0)
        give_up("a list that is cut differs", fuzz_backend_name(1), &c);
    return 0;
}
