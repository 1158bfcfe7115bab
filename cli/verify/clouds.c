/* SPDX-License-Identifier: MIT */
/* The clouds of carom verify: every configuration against the first, byte by byte, in both modes; and that one's exact
 * lists against the reference, which tries every pair and image. */
#include "verify.h"
#include "queries/cloud_list.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CLOUDS_MAX = 64, JUDGED = 48, LARGE_SHARE = 64, LARGE_LEAST = 512, ROOM_EACH = 32, IMAGES = 27 };
enum { LIST, FIRST, ANY, COUNT, CALLS };
static const char *const call_names[CALLS] = {"list", "first", "any", "count"};

/* ---- clouds ------------------------------------------------------------------------------------------------------ */

typedef struct cloud_kind {
    const char *name;
    float size, radius, offset, speed, period, margin;
    int is_lattice, has_masks, spreads; /* radii from 1/1000 of the largest */
} cloud_kind;

/* The last is for the backends alone, with more spheres. */
static const cloud_kind kinds[] = {{"random", 4, 0.5f, 0, 0, 0, 0.1f, 0, 0, 0},
                                   {"lattice", 4, 0.5f, 0, 0, 4, 0, 1, 1, 0},
                                   {"sizes apart", 4, 1, 0, 0.5f, 0, 0, 0, 0, 1},
                                   {"far", 4, 0.5f, 1e7f, 1, 0, 0, 0, 1, 0},
                                   {"moving lattice", 4, 0.5f, 0, 1, 4, 0, 1, 0, 0},
                                   {"periodic", 4, 0.5f, 0, 2, 4, 0, 0, 0, 1},
                                   {"denormal", 0x1p-140f, 0x1p-143f, 0, 0, 0, 0, 0, 0, 0},
                                   {"large", 4, 0.5f, 0, 0.5f, 0, 0, 0, 1, 1}};
enum { KINDS = sizeof kinds / sizeof kinds[0], KINDS_JUDGED = KINDS - 1 };

typedef struct cloud_input {
    uint64_t count;
    float *center, *velocity, *radius, *t_max;
    uint32_t *mask;
    carom_cloud_desc desc;
} cloud_input;

static float uniform(query_random *r)
{
    return (float)(query_random_bits(r) >> 40) * 0x1p-24f;
}

static void make_sphere(const cloud_kind *kind, query_random *r, float size, cloud_input *c, uint64_t i)
{
    for (uint64_t k = 3 * i; k < 3 * i + 3; k++) {
        c->center[k] = size * uniform(r);
        c->velocity[k] = kind->speed * (2.0f * uniform(r) - 1.0f);
        if (kind->is_lattice) {
            c->center[k] = floorf(c->center[k]);
            c->velocity[k] = floorf(c->velocity[k] + 0.5f);
        }
        c->center[k] += kind->offset;
    }
    c->radius[i] = kind->radius * (kind->spreads ? powf(10.0f, -3.0f * uniform(r)) : 1.0f);
    c->t_max[i] = 2.0f * uniform(r);
    c->mask[i] = (uint32_t)query_random_bits(r) & 7;
    if (i % 29 == 28)
        c->radius[i] = -1.0f;
}

/* As dense as a small one, whatever the count. */
static void make_cloud(size_t number, uint64_t seed, cloud_input *c)
{
    const cloud_kind *kind = &kinds[number];
    query_random r = {seed * KINDS + number};
    const float size = kind->size * cbrtf((float)c->count / JUDGED);
    for (uint64_t i = 0; i < c->count; i++)
        make_sphere(kind, &r, size, c, i);
    c->desc = (carom_cloud_desc){.batch = {.size = sizeof c->desc, .count = c->count},
                                 .center = carom_xyz(c->center),
                                 .radius = carom_scalars_of(c->radius),
                                 .margin = kind->margin,
                                 .period = {kind->period, 0, kind->period},
                                 .full = number % 2};
    if (kind->speed > 0) {
        c->desc.velocity = carom_xyz(c->velocity);
        c->desc.t_max = carom_scalars_of(c->t_max);
        c->desc.start = (carom_start)((seed + number) % 3);
    }
    if (kind->has_masks)
        c->desc.mask = carom_uints_of(c->mask);
}

static int cloud_alloc(cloud_input *c, uint64_t most)
{
    c->center = cli_alloc(3 * most, sizeof(float));
    c->velocity = cli_alloc(3 * most, sizeof(float));
    c->radius = cli_alloc(most, sizeof(float));
    c->t_max = cli_alloc(most, sizeof(float));
    c->mask = cli_alloc(most, sizeof(uint32_t));
    return c->center && c->velocity && c->radius && c->t_max && c->mask ? EXIT_DONE : cli_no_memory();
}

static void cloud_free(cloud_input *c)
{
    free(c->center);
    free(c->velocity);
    free(c->radius);
    free(c->t_max);
    free(c->mask);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

/* Arrays of all calls, in one block of memory: what no call answers stays as it was. */
typedef struct cloud_answer {
    unsigned char *memory;
    size_t size;
    carom_cloud_pair_list list;
    carom_list_totals totals;
    int32_t *other;
    float *t;
    uint8_t *state, *hit;
    uint32_t *partners;
} cloud_answer;

static void *take(cloud_answer *a, size_t *used, uint64_t count, size_t size)
{
    void *at = a->memory ? a->memory + *used : NULL;
    *used += ((size_t)count * size + 63) / 64 * 64;
    return at;
}

/* Where everything is; of so many spheres. Returns the bytes. */
static size_t lay_out(cloud_answer *a, uint64_t count)
{
    const uint64_t room = ROOM_EACH * count + IMAGES * JUDGED;
    a->list = (carom_cloud_pair_list){.size = sizeof a->list, .capacity = room, .totals = &a->totals};
    size_t used = query_list_lay_out(&a->list, count, a->memory);
    a->other = take(a, &used, count, sizeof(int32_t));
    a->t = take(a, &used, count, sizeof(float));
    a->state = take(a, &used, count, 1);
    a->hit = take(a, &used, count, 1);
    a->partners = take(a, &used, count, sizeof(uint32_t));
    return used;
}

static int answer_alloc(cloud_answer *a, uint64_t most)
{
    a->size = lay_out(a, most);
    a->memory = cli_alloc(a->size, 1);
    return a->memory ? EXIT_DONE : cli_no_memory();
}

/* One call of one configuration; everything else in the memory is the same for all. */
static carom_status ask(carom_context *context, const carom_cloud_desc *desc, int call, cloud_answer *to,
                        carom_stats *stats, carom_error *err)
{
    carom_cloud_desc d = *desc;
    const carom_cloud_partner_result first = {.size = sizeof first, .other = to->other, .state = to->state, .t = to->t};
    const carom_any_result any = {.size = sizeof any, .hit = to->hit};
    const carom_cloud_count_result count = {.size = sizeof count, .partners = to->partners};
    *stats = (carom_stats){.size = sizeof *stats};
    memset(to->memory, 0, to->size);
    to->totals = (carom_list_totals){0};
    if (call == LIST)
        return carom_cloud_list(context, &d, &to->list, stats, err);
    d.full = 0;
    if (call == COUNT)
        return carom_cloud_count(context, &d, &count, stats, err);
    d.margin = 0;
    return call == FIRST ? carom_cloud_first(context, &d, &first, stats, err)
                         : carom_cloud_any(context, &d, &any, stats, err);
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

typedef struct cell {
    uint64_t spheres, different;
} cell;

typedef struct clouds_run {
    const verify_subject *subjects;
    size_t count;
    const verify_options *options;
    output *out;
    cloud_input input;
    cloud_answer expected, got;
    cell cells[VERIFY_MODES][CLOUDS_MAX][CALLS];
    uint64_t pairs, wrong;
} clouds_run;

static int is_asked(const clouds_run *r, int mode)
{
    return !r->options->common.is_accuracy_given || mode == (int)r->options->common.accuracy;
}

static void compare(clouds_run *r, size_t number, int mode, size_t subject, int call)
{
    const verify_subject *s = &r->subjects[subject];
    cell *c = &r->cells[mode][subject][call];
    cloud_answer *to = subject == 0 ? &r->expected : &r->got;
    carom_stats stats;
    carom_error err = {0};
    const carom_status status = ask(s->context, &r->input.desc, call, to, &stats, &err);
    c->spheres += r->input.count;
    if (status == CAROM_OK && (subject == 0 || (memcmp(&r->expected.totals, &to->totals, sizeof to->totals) == 0 &&
                                                memcmp(r->expected.memory, to->memory, to->size) == 0)))
        return;
    if (c->different++ > 0)
        return;
    if (status != CAROM_OK)
        output_format(r->out, "%s: %s of cloud '%s' failed: %s: %s\n", s->name, call_names[call], kinds[number].name,
                      carom_status_name(status), err.message);
    else
        output_format(r->out, "%s differs from %s, %s mode: %s of cloud '%s', %llu spheres, seed %llu\n", s->name,
                      r->subjects[0].name, mode == CAROM_ACCURACY_FAST ? "fast" : "exact", call_names[call],
                      kinds[number].name, (unsigned long long)r->input.count, (unsigned long long)r->options->seed);
}

/* ---- the reference ----------------------------------------------------------------------------------------------- */

static int is_valid(const cloud_input *c, uint64_t i)
{
    return c->radius[i] >= 0.0f;
}

/* Whether b at its image is in the list of a; a pair is judged with the lower index first. */
static int is_pair(const cloud_input *c, uint64_t a, uint64_t b, const int8_t shift[3], ref_cloud_answer *out)
{
    const uint64_t low = a < b ? a : b, high = a < b ? b : a;
    const carom_cloud_desc *d = &c->desc;
    ref_cloud_case q = {.radius_a = c->radius[low], .radius_b = c->radius[high], .margin = d->margin};
    if (a == b || !is_valid(c, a) || !is_valid(c, b) || (d->mask.data && !(c->mask[a] & c->mask[b])))
        return 0;
    for (uint64_t k = 0; k < 3; k++) {
        if (shift[k] != 0 && !(d->period[k] > 0.0f))
            return 0;
        q.a[k] = c->center[3 * low + k];
        q.b[k] = c->center[3 * high + k];
        q.velocity_a[k] = d->velocity.x ? c->velocity[3 * low + k] : 0.0f;
        q.velocity_b[k] = d->velocity.x ? c->velocity[3 * high + k] : 0.0f;
        q.shift[k] = (float)(a < b ? shift[k] : -shift[k]) * d->period[k];
    }
    q.limit = d->t_max.data ? fminf(c->t_max[a], c->t_max[b]) : INFINITY;
    ref_cloud(&q, out);
    if (a > b)
        ref_cloud_turn(out);
    const int in_contact = out->state == REF_TOUCHING || out->state == REF_OVERLAPPING;
    return out->is_pair &&
           !(in_contact && (d->start == CAROM_START_SKIP || (d->start == CAROM_START_SKIP_PARTING && out->is_apart)));
}

static uint64_t count_pairs(const cloud_input *c)
{
    ref_cloud_answer truth;
    uint64_t pairs = 0;
    for (uint64_t a = 0; a < c->count; a++)
        for (uint64_t b = a + 1; b < c->count; b++)
            for (int image = 0; image < IMAGES; image++) {
                const int8_t shift[3] = {(int8_t)(image / 9 - 1), (int8_t)(image / 3 % 3 - 1), (int8_t)(image % 3 - 1)};
                pairs += (uint64_t)is_pair(c, a, b, shift, &truth);
            }
    return c->desc.full ? 2 * pairs : pairs;
}

/* Records are all different, because the list is the same as the first configuration's, in order. */
static void judge(clouds_run *r, size_t number)
{
    const cloud_answer *a = &r->expected;
    const carom_cloud_pair_list *l = &a->list;
    uint64_t wrong = a->totals.total != count_pairs(&r->input);
    for (uint64_t i = 0; i < a->totals.stored; i++) {
        ref_cloud_answer truth;
        const int exists = is_pair(&r->input, (uint64_t)l->a[i], (uint64_t)l->b[i], l->shift + 3 * i, &truth);
        wrong += !exists || truth.state != l->state[i] || memcmp(&truth.t, &l->t[i], sizeof(float)) != 0 ||
                 query_list_judge(l, i, &truth) != NULL;
    }
    if (wrong && r->wrong == 0)
        output_format(r->out, "cloud '%s', seed %llu: %llu wrong pairs\n", kinds[number].name,
                      (unsigned long long)r->options->seed, (unsigned long long)wrong);
    r->wrong += wrong;
    r->pairs += a->totals.stored;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void run_cloud(clouds_run *r, size_t number, uint64_t seed)
{
    make_cloud(number, seed, &r->input);
    lay_out(&r->expected, r->input.count);
    lay_out(&r->got, r->input.count);
    for (int mode = 0; mode < VERIFY_MODES; mode++) {
        if (!is_asked(r, mode))
            continue;
        r->input.desc.batch.accuracy = (carom_accuracy)mode;
        for (int call = 0; call < CALLS; call++) {
            for (size_t s = 0; s < r->count; s++)
                compare(r, number, mode, s, call);
            if (call == LIST && mode == CAROM_ACCURACY_EXACT && number < KINDS_JUDGED)
                judge(r, number);
        }
    }
}

static void write_all(const clouds_run *r, double seconds, uint64_t *different, uint64_t *wrong)
{
    static const char *const titles[VERIFY_MODES] = {"clouds, fast mode: spheres / different",
                                                     "clouds, exact mode: spheres / different"};
    for (int mode = 0; mode < VERIFY_MODES; mode++) {
        if (!is_asked(r, mode))
            continue;
        output_format(r->out, "\n%-52s", titles[mode]);
        for (int call = 0; call < CALLS; call++)
            verify_write_column(r->out, call_names[call]);
        output_char(r->out, '\n');
        for (size_t s = 0; s < r->count; s++) {
            output_format(r->out, "%-52s", r->subjects[s].name);
            for (int call = 0; call < CALLS; call++) {
                const cell *c = &r->cells[mode][s][call];
                verify_write_cell(r->out, CAROM_ACCURACY_FAST, c->spheres, NULL, c->different);
                *different += c->different;
            }
            output_char(r->out, '\n');
        }
    }
    output_format(r->out, "clouds: compared in %.1f s, seed %llu\n", seconds, (unsigned long long)r->options->seed);
    if (is_asked(r, CAROM_ACCURACY_EXACT))
        output_format(r->out, "cloud reference: %llu pairs, %llu wrong\n", (unsigned long long)r->pairs,
                      (unsigned long long)r->wrong);
    *wrong += r->wrong;
}

int verify_clouds(const verify_subject *subjects, size_t count, const verify_options *options, output *out,
                  uint64_t *different, uint64_t *wrong)
{
    const double start = cli_seconds();
    const uint64_t large = options->queries / LARGE_SHARE;
    const uint64_t most = large > LARGE_LEAST ? large : LARGE_LEAST, rounds = 1 + options->queries / 100000;
    verify_subject asked[CLOUDS_MAX];
    clouds_run *r = calloc(1, sizeof *r);
    if (!r)
        return cli_no_memory();
    r->subjects = asked;
    r->options = options;
    r->out = out;
    for (size_t i = 0; i < count && r->count < CLOUDS_MAX; i++)
        if (subjects[i].context)
            asked[r->count++] = subjects[i];
    int status = cloud_alloc(&r->input, most);
    status = status == EXIT_DONE ? answer_alloc(&r->expected, most) : status;
    status = status == EXIT_DONE ? answer_alloc(&r->got, most) : status;
    for (uint64_t round = 0; status == EXIT_DONE && r->count > 0 && round < rounds; round++)
        for (size_t number = 0; number < (round == 0 ? KINDS : KINDS_JUDGED); number++) {
            r->input.count = number < KINDS_JUDGED ? JUDGED : most;
            run_cloud(r, number, options->seed + round);
        }
    if (status == EXIT_DONE && r->count > 0)
        write_all(r, cli_seconds() - start, different, wrong);
    cloud_free(&r->input);
    free(r->expected.memory);
    free(r->got.memory);
    free(r);
    return status;
}
