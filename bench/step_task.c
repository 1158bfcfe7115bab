/* SPDX-License-Identifier: MIT */
#include "step_task.h"

#include "common.h"
#include "measure.h"

#include <math.h>
#include <string.h>

const char *step_part_name(step_part part)
{
    static const char *const names[STEP_PARTS] = {[STEP_REFIT] = "refit",
                                                  [STEP_FIRST_HITS] = "first hits",
                                                  [STEP_NEIGHBOURS] = "neighbours",
                                                  [STEP_CONTACTS] = "contacts",
                                                  [STEP_MATCH] = "match"};
    return names[part];
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static void *at(const step_call *a, const columns *of, int column)
{
    return resident_at(a->resident, of->column[column]);
}

static carom_points points_at(const step_call *a, const columns *of, int first)
{
    return carom_soa(at(a, of, first), at(a, of, first + 1), at(a, of, first + 2));
}

static carom_points_out points_out(const step_call *a, const columns *of, int first)
{
    return (carom_points_out){at(a, of, first), at(a, of, first + 1), at(a, of, first + 2), sizeof(float)};
}

static carom_batch batch_of(const step_call *a, size_t size)
{
    return (carom_batch){.size = size, .count = a->arrays->count, .accuracy = a->accuracy};
}

static carom_status refit(const step_call *a, carom_error *err)
{
    const carom_points vertices = carom_xyz(at(a, &a->arrays->vertices, 0));
    return carom_mesh_update(a->mesh, &vertices, CAROM_MESH_REFIT, err);
}

static carom_status find_first_hits(const step_call *a, carom_stats *stats, carom_error *err)
{
    static const float whole = 1.0f;
    const step_arrays *s = a->arrays;
    const carom_mesh_sweep_desc desc = {.batch = batch_of(a, sizeof desc),
                                        .center = points_at(a, &s->spheres, 0),
                                        .velocity = points_at(a, &s->spheres, 3),
                                        .radius = carom_scalars_of(at(a, &s->spheres, 6)),
                                        .t_max = {&whole, CAROM_REPEAT},
                                        .start = CAROM_START_SKIP_PARTING};
    const carom_mesh_hit_result out = {.size = sizeof out,
                                       .triangle = at(a, &s->hits, 0),
                                       .t = at(a, &s->hits, 1),
                                       .normal = points_out(a, &s->hits, 2)};
    return carom_mesh_sweep_first(a->mesh, &desc, &out, stats, err);
}

static carom_status find_neighbours(const step_call *a, carom_list_totals *totals, carom_stats *stats, carom_error *err)
{
    const step_arrays *s = a->arrays;
    const carom_cloud_desc desc = {.batch = batch_of(a, sizeof desc),
                                   .center = points_at(a, &s->spheres, 0),
                                   .radius = carom_scalars_of(at(a, &s->spheres, 6)),
                                   .full = 1};
    const carom_cloud_pair_list list = {.size = sizeof list,
                                        .capacity = s->pairs,
                                        .offsets = at(a, &s->pair_offsets, 0),
                                        .b = at(a, &s->partner, 0),
                                        .totals = totals};
    return carom_cloud_list(a->subject->context, &desc, &list, stats, err);
}

static carom_status find_contacts(const step_call *a, carom_list_totals *totals, carom_stats *stats, carom_error *err)
{
    const step_arrays *s = a->arrays;
    const carom_mesh_contacts_desc desc = {.batch = batch_of(a, sizeof desc),
                                           .center = points_at(a, &s->spheres, 0),
                                           .radius = carom_scalars_of(at(a, &s->spheres, 6))};
    const carom_contact_list list = {.size = sizeof list,
                                     .capacity = s->contacts,
                                     .offsets = at(a, &s->contact_offsets, 0),
                                     .query = at(a, &s->contact_query, 0),
                                     .patch = at(a, &s->contact, 0),
                                     .distance = at(a, &s->contact, 1),
                                     .normal = points_out(a, &s->contact, 2),
                                     .point = points_out(a, &s->contact, 5),
                                     .totals = totals};
    return carom_mesh_contacts(a->mesh, &desc, &list, stats, err);
}

static carom_status match(const step_call *a, uint64_t count, carom_error *err)
{
    const step_arrays *s = a->arrays;
    const carom_contact_records old = {.size = sizeof old,
                                       .count = s->old_contacts,
                                       .query = at(a, &s->old_query, 0),
                                       .patch = at(a, &s->old_contact, 0),
                                       .point = points_at(a, &s->old_contact, 1)};
    const carom_contact_records now = {.size = sizeof now,
                                       .count = count,
                                       .query = at(a, &s->contact_query, 0),
                                       .patch = at(a, &s->contact, 0),
                                       .point = points_at(a, &s->contact, 5)};
    const carom_contact_match out = {.size = sizeof out, .previous = at(a, &s->previous, 0)};
    return carom_contacts_match(a->subject->context, &old, &now, &out, err);
}

static void add_stats(carom_stats *sum, const carom_stats *stats)
{
    sum->queries += stats->queries;
    sum->on_device += stats->on_device;
    sum->by_integers += stats->by_integers;
    sum->by_second_filter += stats->by_second_filter;
    sum->upload += stats->upload;
    sum->compute += stats->compute;
    sum->download += stats->download;
    sum->host += stats->host;
    sum->brought += stats->brought;
    sum->returned += stats->returned;
}

static carom_status make_part(step_call *a, step_part part, carom_list_totals *contacts, carom_error *err)
{
    carom_list_totals pairs = {0};
    carom_stats stats = {.size = sizeof stats};
    const double start = measure_now();
    const carom_status status = part == STEP_REFIT        ? refit(a, err)
                                : part == STEP_FIRST_HITS ? find_first_hits(a, &stats, err)
                                : part == STEP_NEIGHBOURS ? find_neighbours(a, &pairs, &stats, err)
                                : part == STEP_CONTACTS   ? find_contacts(a, contacts, &stats, err)
                                                          : match(a, contacts->stored, err);
    a->part[part] = measure_now() - start;
    a->stats.total += a->part[part];
    add_stats(&a->stats, &stats);
    return status;
}

carom_status step_call_try(step_call *a, carom_error *err)
{
    carom_list_totals contacts = {0};
    carom_status status = CAROM_OK;

    a->stats = (carom_stats){.size = sizeof a->stats};
    for (int i = 0; status == CAROM_OK && i < STEP_PARTS; i++)
        status = make_part(a, i, &contacts, err);
    if (status == CAROM_OK && (a->fastest.size == 0 || a->stats.total < a->fastest.total)) {
        a->fastest = a->stats;
        memcpy(a->fastest_part, a->part, sizeof a->part);
    }
    return status;
}

void step_call_run(void *user)
{
    step_call *a = user;
    carom_error err = {0};
    const carom_status status = step_call_try(a, &err);

    if (status != CAROM_OK)
        bench_die("step on %s: %s: %s", a->subject->what, carom_status_name(status), err.message);
}

/* ---- answers ----------------------------------------------------------------------------------------------------- */

enum { ANSWERS = 7, ARRAYS = 11 };
static void list_arrays(const step_arrays *s, const columns *of[ARRAYS])
{
    const columns *const all[ARRAYS] = {&s->hits,          &s->pair_offsets, &s->partner,    &s->contact_offsets,
                                        &s->contact_query, &s->contact,      &s->previous,   &s->spheres,
                                        &s->vertices,      &s->old_query,    &s->old_contact};
    memcpy(of, all, sizeof all); /* answers first */
}

uint64_t step_call_hash(const step_call *a)
{
    const columns *of[ARRAYS];
    uint64_t hash = 0;

    list_arrays(a->arrays, of);
    for (int i = 0; i < ANSWERS; i++) {
        resident_read(a->resident, of[i]);
        for (int k = 0; k < of[i]->count; k++)
            hash = bench_hash(hash, of[i]->column[k], of[i]->column_bytes);
    }
    return hash;
}

uint64_t step_call_check(step_call *a)
{
    const columns *of[ARRAYS];

    list_arrays(a->arrays, of);
    for (int i = 0; i < ANSWERS; i++) {
        for (int k = 0; k < of[i]->count; k++)
            memset(of[i]->column[k], 0xa5, of[i]->column_bytes);
        resident_write(a->resident, of[i]);
    }
    step_call_run(a);
    return step_call_hash(a);
}

carom_status step_call_settle(step_call *a, carom_error *err)
{
    const columns *of[ARRAYS];
    carom_status status = CAROM_OK;

    list_arrays(a->arrays, of);
    a->resident = resident_alloc();
    for (int i = 0; status == CAROM_OK && i < ARRAYS; i++)
        status = resident_add(a->resident, a->subject, of[i], err);
    return status;
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* (2 r)^3 4 pi / 3 of the box holds six centres. */
static double radius_of(const mesh_scene *shape, size_t count)
{
    double space = 1.0;

    for (int k = 0; k < 3; k++)
        space *= shape->high[k] - shape->low[k];
    return cbrt(6.0 * space / (33.510321638291124 * (double)count));
}

static columns make_spheres(const mesh_scene *shape, size_t count)
{
    columns c = columns_alloc(7, count, sizeof(float));
    const double radius = radius_of(shape, count);

    for (size_t i = 0; i < count; i++) {
        uint64_t state = i * 0x9e3779b97f4a7c15u + 21;
        double way[3], square = 0.0;
        for (int k = 0; k < 3; k++) {
            ((float *)c.column[k])[i] = (float)bench_range(&state, shape->low[k], shape->high[k]);
            way[k] = bench_range(&state, -1.0, 1.0);
            square += way[k] * way[k];
        }
        const double length = radius * bench_range(&state, 0.5, 1.0) / sqrt(square);
        for (int k = 0; k < 3; k++)
            ((float *)c.column[3 + k])[i] = (float)(length * way[k]);
        ((float *)c.column[6])[i] = (float)radius;
    }
    return c;
}

/* Records of either mode, whichever are more. */
static void count_records(step_arrays *s, step_call a)
{
    carom_error err = {0};

    a.arrays = s;
    for (int exact = 0; exact < 2; exact++) {
        carom_list_totals pairs = {0}, contacts = {0};
        a.accuracy = exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
        if (find_neighbours(&a, &pairs, NULL, &err) != CAROM_OK || find_contacts(&a, &contacts, NULL, &err) != CAROM_OK)
            bench_die("a step on %s: %s", a.subject->what, err.message);
        s->pairs = pairs.total > s->pairs ? pairs.total : s->pairs;
        s->contacts = contacts.total > s->contacts ? contacts.total : s->contacts;
    }
}

static void alloc_contacts(step_arrays *s)
{
    s->contact_query = columns_alloc(1, s->contacts, sizeof(uint64_t));
    s->contact = columns_alloc(8, s->contacts, sizeof(float));
    s->previous = columns_alloc(1, s->contacts, sizeof(int64_t));
}

static void move_back(const columns *spheres, float share)
{
    for (size_t i = 0; i < spheres->column_bytes / sizeof(float); i++)
        for (int k = 0; k < 3; k++)
            ((float *)spheres->column[k])[i] -= share * ((const float *)spheres->column[3 + k])[i];
}

/* The contacts of the step before, in arrays of their own. */
static void make_old(step_arrays *s, size_t count, step_call a)
{
    step_arrays old = {.count = count, .spheres = make_spheres(a.shape, count)};
    carom_list_totals totals = {0};
    carom_error err = {0};

    move_back(&old.spheres, 0.1f);
    old.pair_offsets = columns_alloc(1, count + 1, sizeof(uint64_t));
    old.contact_offsets = columns_alloc(1, count + 1, sizeof(uint64_t));
    count_records(&old, a);
    alloc_contacts(&old);
    a.arrays = &old;
    if (find_contacts(&a, &totals, NULL, &err) != CAROM_OK)
        bench_die("a step on %s: %s", a.subject->what, err.message);
    s->old_contacts = totals.stored;
    s->old_query = columns_alloc(1, s->old_contacts, sizeof(uint64_t));
    s->old_contact = columns_alloc(4, s->old_contacts, sizeof(float));
    memcpy(s->old_query.column[0], old.contact_query.column[0], s->old_query.column_bytes);
    for (int k = 0; k < 4; k++)
        memcpy(s->old_contact.column[k], old.contact.column[k == 0 ? 0 : 4 + k], s->old_contact.column_bytes);
    step_arrays_free(&old);
}

step_arrays step_arrays_make(const mesh_scene *shape, size_t count, const subject *of, carom_mesh *mesh)
{
    step_arrays s = {.count = count, .spheres = make_spheres(shape, count)};
    const step_call a = {.subject = of, .shape = shape, .mesh = mesh};

    s.vertices = columns_alloc(1, 3 * shape->vertex_count, sizeof(float));
    memcpy(s.vertices.column[0], shape->vertices, s.vertices.column_bytes);
    s.hits = columns_alloc(5, count, sizeof(float));
    s.pair_offsets = columns_alloc(1, count + 1, sizeof(uint64_t));
    s.contact_offsets = columns_alloc(1, count + 1, sizeof(uint64_t));
    count_records(&s, a);
    s.partner = columns_alloc(1, s.pairs, sizeof(int32_t));
    alloc_contacts(&s);
    make_old(&s, count, a);
    return s;
}

void step_arrays_free(step_arrays *a)
{
    columns *all[] = {&a->spheres,   &a->vertices,        &a->hits,          &a->pair_offsets,
                      &a->partner,   &a->contact_offsets, &a->contact_query, &a->contact,
                      &a->old_query, &a->old_contact,     &a->previous};

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        columns_free(all[i]);
}
