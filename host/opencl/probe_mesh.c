/* SPDX-License-Identifier: MIT */
/* The bit probe (probe.c) of the mesh kernels, on a small mesh of hard triangles. */
#include <math.h>
#include <string.h>

#include "probe.h"
#include "host/mesh/list.h"
#include "host/mesh/mesh.h"

enum {
    QUERIES = 64,          /* queries of first hits and of lists, which includes contacts */
    CLOSEST_QUERIES = 256, /* queries of closest points */
    GROUP = 16,            /* queries of a work-item */
    TRIANGLES = 400,
    SHEET = 10, /* squares along each side of a connected sheet of triangles, for contacts */
    HITS = 1 << 12
};

/* Columns of answers; a column of bytes fills only a part of its row. */
typedef struct probe_answers {
    uint32_t column[CAROMI_ANSWERS][CLOSEST_QUERIES];
} probe_answers;

typedef struct list_answers {
    uint64_t offsets[QUERIES + 1];
    int32_t triangle[HITS];
    uint8_t state[HITS], any[QUERIES];
    float t[HITS];
    carom_list_totals totals;
} list_answers;

typedef struct mesh_probe {
    float vertices[9 * TRIANGLES];
    uint32_t masks[TRIANGLES], mask[CLOSEST_QUERIES];
    float in[CAROMI_MESH_IN][CLOSEST_QUERIES];
    probe_answers got, expected;
    list_answers list_got, list_expected;
} mesh_probe;

void caromi_probe_triangles(uint64_t *state, float *vertices, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        float *v = vertices + 9 * (size_t)i, base[3];
        const float size = i % 8 == 0 ? 1.0f : i % 8 == 1 ? 0x1p-12f : 0x1p-3f;
        for (int k = 0; k < 3; k++)
            base[k] = caromi_probe_number(state, i % 4 == 3 ? CAROMI_PROBE_LATTICE : CAROMI_PROBE_NEAR);
        for (int k = 0; k < 9; k++)
            v[k] =
                base[k % 3] + size * caromi_probe_number(state, i % 4 == 3 ? CAROMI_PROBE_LATTICE : CAROMI_PROBE_NEAR);
        if (i % 16 == 5)
            memcpy(v + 6, v + 3, 3 * sizeof *v);
        if (i % 32 == 9 && i > 0)
            memcpy(v, v - 9, 9 * sizeof *v); /* the same triangle twice: the lower index wins */
    }
}

static void sheet_corner(uint32_t i, uint32_t k, float *v)
{
    uint64_t state = i * (SHEET + 1) + k + 100;
    v[0] = (float)i * 0.25f - 1.25f;
    v[1] = (float)k * 0.25f - 1.25f;
    v[2] = caromi_probe_number(&state, CAROMI_PROBE_LATTICE) * 0x1p-3f;
}

/* Replaces the first triangles by a connected sheet. */
static void make_sheet(float *vertices)
{
    for (uint32_t i = 0; i < SHEET * SHEET; i++) {
        float *v = vertices + 18 * (size_t)i;
        sheet_corner(i / SHEET, i % SHEET, v);
        sheet_corner(i / SHEET + 1, i % SHEET, v + 3);
        sheet_corner(i / SHEET, i % SHEET + 1, v + 6);
        memcpy(v + 9, v + 6, 3 * sizeof *v);
        memcpy(v + 12, v + 3, 3 * sizeof *v);
        sheet_corner(i / SHEET + 1, i % SHEET + 1, v + 15);
    }
}

/* Makes a sphere small and slow, and its window short, so that it has few hits. NaN stays NaN. */
static void limit(float *row)
{
    for (int c = 3; c < CAROMI_MESH_IN; c++) {
        const float most = c == 3 ? 0x1p-8f : c == 7 ? 0x1p-4f : 1.0f;
        row[c] = row[c] > most ? most : row[c] < -1.0f ? -1.0f : row[c];
    }
}

/* The end of a query's window, or its largest distance; infinite for three queries in four. */
static float window_of(uint32_t query, float any)
{
    const float end = fabsf(any);
    return query % 4 != 3 || !(end >= 0) ? INFINITY : end;
}

static void make_sweeps(uint64_t *state, mesh_probe *p)
{
    for (uint32_t i = 0; i < QUERIES; i++) {
        float row[CAROMI_MESH_IN];
        caromi_probe_row(state, row, CAROMI_MESH_IN, RADII_SWEEP);
        row[3] *= i % 2 ? 0.125f : 1.0f;
        for (int k = 0; i % 4 == 0 && k < 3; k++) /* aimed at the middle of the mesh */
            row[4 + k] = row[k] * -0.5f;
        row[7] = window_of(i, row[7]);
        /* Work-items with few hits, whose records the first pass of a list writes. */
        if (i / GROUP % 2 == 0)
            limit(row);
        for (int c = 0; c < CAROMI_MESH_IN; c++)
            p->in[c][i] = row[c];
    }
}

static void make_centers(uint64_t *state, mesh_probe *p)
{
    for (uint32_t i = 0; i < CLOSEST_QUERIES; i++) {
        float row[CAROMI_MESH_IN];
        caromi_probe_row(state, row, CAROMI_MESH_IN, RADII_SWEEP);
        row[MESH_MAX_DISTANCE] = window_of(i, row[MESH_MAX_DISTANCE]);
        if (i % 8 == 0) /* centre at a corner of the mesh */
            memcpy(row, p->vertices + 3 * (size_t)i, 3 * sizeof *row);
        for (int c = 0; c < CAROMI_CLOSEST_IN; c++)
            p->in[c][i] = row[c];
    }
}

/* Makes spheres at rest near the sheet, and at its corners; every fourth query has a margin. */
static void make_resting(uint64_t *state, mesh_probe *p)
{
    make_centers(state, p);
    for (uint32_t i = 0; i < QUERIES; i++) {
        float row[CAROMI_MESH_IN];
        caromi_probe_row(state, row, CAROMI_MESH_IN, RADII_SWEEP);
        for (int k = 0; i % 8 != 0 && i % 16 != 1 && k < 3; k++) /* NaN stays NaN */
            p->in[k][i] = row[k] > 1.0f ? 1.0f : row[k] < -1.0f ? -1.0f : row[k];
        p->in[MESH_RADIUS][i] = i / GROUP % 2 == 0 && p->in[MESH_RADIUS][i] > 0.25f ? 0.25f : p->in[MESH_RADIUS][i];
        p->in[MESH_MAX_DISTANCE][i] = i % 4 == 3 ? 0.125f : 0.0f;
    }
}

void caromi_probe_masks(uint64_t state, uint32_t *masks, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1;
        masks[i] = (uint32_t)(state >> 32);
        state = state * UINT64_C(6364136223846793005) + 1;
        masks[i] &= (uint32_t)(state >> 32);
    }
}

static carom_status make_probe(const caromi_mesh_batch *like, int masked, mesh_probe *p, carom_mesh **mesh,
                               carom_error *err)
{
    const int moves = like->kind == &caromi_first_hit, contacts = like->kind == &caromi_contact_triangles;
    uint64_t state = moves ? 2 : 3;
    caromi_probe_triangles(&state, p->vertices, TRIANGLES);
    if (contacts)
        make_sheet(p->vertices);
    (moves ? make_sweeps : contacts ? make_resting : make_centers)(&state, p);
    caromi_probe_masks(3, p->masks, TRIANGLES);
    caromi_probe_masks(4, p->mask, CLOSEST_QUERIES);
    for (uint32_t i = 0; i < CLOSEST_QUERIES; i++)
        p->mask[i] = i % 8 == 0 ? 0 : p->mask[i] & 0xff00ff00u;
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = carom_xyz(p->vertices),
                                  .vertex_count = 3 * TRIANGLES,
                                  .triangle_count = TRIANGLES,
                                  .masks = {masked ? p->masks : NULL, sizeof *p->masks}};
    return caromi_mesh_make(like->mesh->context, &desc, mesh, err);
}

/* The probe's queries as a batch without outputs, of the same kind and accuracy as `like`. */
static caromi_mesh_batch batch_of(const mesh_probe *p, carom_mesh *mesh, const caromi_mesh_batch *like, int options)
{
    caromi_mesh_batch batch = {
        .kind = like->kind,
        .mesh = mesh,
        .count = like->kind == &caromi_closest_triangle ? CLOSEST_QUERIES : QUERIES,
        .exact = like->exact,
        .options = options,
    };
    for (int c = 0; c < like->kind->in; c++)
        batch.in[c] = (caromi_in_column){.base = p->in[c], .stride = sizeof(float)};
    if (options)
        batch.mask = (caromi_in_column){.base = p->mask, .stride = sizeof(uint32_t)};
    return batch;
}

static void set_outputs(probe_answers *to, int points, caromi_mesh_batch *batch)
{
    const uint32_t count = points ? batch->kind->out : batch->kind->search_out;
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t answer = batch->kind->answer[k];
        batch->out[answer] = (caromi_out_column){to->column[answer], caromi_answer_size(answer)};
    }
}

static carom_status compare_answers(const caromi_device *d, const caromi_mesh_batch *batch, const mesh_probe *p,
                                    carom_error *err)
{
    const caromi_mesh_kind *kind = batch->kind;
    const uint32_t search = caromi_batch_search_program(batch), points = caromi_batch_points_program(batch);
    carom_status status = CAROM_OK;
    for (uint32_t k = 0; status == CAROM_OK && k < kind->out; k++) {
        const uint32_t answer = kind->answer[k], of_points = k >= kind->search_out;
        status = caromi_probe_compare(d, of_points ? points : search, (uint32_t)batch->count,
                                      of_points ? k - kind->search_out : k, p->got.column[answer],
                                      p->expected.column[answer], caromi_answer_size(answer), err);
    }
    return status;
}

/* A context for scalar code on one thread, with the allocator and the log of the device's context. */
static carom_context scalar_context(const caromi_device *d)
{
    int chosen;
    carom_context scalar = {.desc = d->context->desc, .isa = caromi_isa_select(CAROM_ISA_SCALAR, &chosen)};
    scalar.hooks = caromi_hooks_of_desc(&scalar.desc);
    scalar.hooks.owner = d->context;
    return scalar;
}

static carom_status run_mesh_probe(caromi_device *d, carom_mesh *mesh, const caromi_mesh_batch *like, int options,
                                   mesh_probe *p, carom_error *err)
{
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    const carom_context scalar = scalar_context(d);
    caromi_mesh_batch batch = batch_of(p, mesh, like, options);
    const int points = caromi_wants_points(like);
    set_outputs(&p->expected, points, &batch);
    carom_status status = caromi_cpu_mesh(&scalar, &batch, 0, batch.count, &stats, err);
    if (status == CAROM_OK) {
        set_outputs(&p->got, points, &batch);
        status = caromi_stream_mesh(d, &batch, batch.count, &done, &stats, err);
    }
    return status == CAROM_OK ? compare_answers(d, &batch, p, err) : status;
}

static carom_hit_list list_out(list_answers *a)
{
    return (carom_hit_list){.size = sizeof(carom_hit_list),
                            .capacity = HITS,
                            .offsets = a->offsets,
                            .triangle = a->triangle,
                            .state = a->state,
                            .t = a->t,
                            .totals = &a->totals};
}

/* Compares any-hit queries, in which a device stops at the first decided hit. */
static carom_status run_any_probe(caromi_device *d, const carom_context *scalar, const caromi_list_batch *list,
                                  mesh_probe *p, carom_error *err)
{
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    caromi_list_batch batch = {.search = list->search, .sweep = list->sweep, .any = p->list_expected.any};
    memset(batch.sweep.out, 0, sizeof batch.sweep.out);
    carom_status status = caromi_cpu_list(scalar, &batch, 0, QUERIES, &stats, err);
    batch.any = p->list_got.any;
    if (status == CAROM_OK)
        status = caromi_stream_list(d, &batch, QUERIES, &done, &stats, err);
    return status != CAROM_OK ? status
                              : caromi_probe_compare(d, caromi_list_program(&batch), QUERIES, 4, p->list_got.any,
                                                     p->list_expected.any, 1, err);
}

/* Compares a list: the counts of all queries, as many hits as fit, and the any-hit answers. The state of a contact is
 * its feature. */
static carom_status run_list_probe(caromi_device *d, carom_mesh *mesh, const caromi_list_batch *like, int options,
                                   mesh_probe *p, carom_error *err)
{
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    const carom_context scalar = scalar_context(d);
    carom_hit_list got = list_out(&p->list_got), expected = list_out(&p->list_expected);
    const carom_mesh_hit_result got_columns = {.triangle = got.triangle, .state = got.state, .t = got.t};
    const carom_mesh_hit_result expected_columns = {
        .triangle = expected.triangle, .state = expected.state, .t = expected.t};
    caromi_contacts contacts = {.merge = 0};
    caromi_list_batch batch = {.search = like->search, .list = &expected};
    if (like->contacts != NULL) {
        CHECK(caromi_edges_of(mesh, &contacts.edges, err));
        batch.contacts = &contacts;
    }
    batch.sweep = batch_of(p, mesh, &like->sweep, options);
    caromi_hits_to_columns(&expected_columns, batch.sweep.out);
    const uint32_t program = caromi_list_program(&batch);
    carom_status status = caromi_cpu_list(&scalar, &batch, 0, QUERIES, &stats, err);
    if (status != CAROM_OK)
        return status;
    batch.list = &got;
    caromi_hits_to_columns(&got_columns, batch.sweep.out);
    status = caromi_stream_list(d, &batch, QUERIES, &done, &stats, err);
    const list_answers *a = &p->list_got, *b = &p->list_expected;
    if (status == CAROM_OK)
        status = caromi_probe_compare(d, program, QUERIES + 1, 0, a->offsets, b->offsets, sizeof *a->offsets, err);
    if (status == CAROM_OK)
        status = caromi_probe_compare(d, program, HITS, 1, a->triangle, b->triangle, sizeof *a->triangle, err);
    if (status == CAROM_OK)
        status = caromi_probe_compare(d, program, HITS, 2, a->state, b->state, sizeof *a->state, err);
    if (status == CAROM_OK)
        status = caromi_probe_compare(d, program, HITS, 3, a->t, b->t, sizeof *a->t, err);
    return status == CAROM_OK && like->contacts == NULL ? run_any_probe(d, &scalar, &batch, p, err) : status;
}

/* The options that a program is probed with. A program for queries without options is probed without any. Other
 * programs are probed with each start policy, as policies exclude each other. Closest points and contacts have one
 * program for all queries. */
typedef struct probe_options {
    int count, options[2];
} probe_options;

static const probe_options *options_of(const caromi_mesh_batch *like)
{
    enum { MASKS = MESH_TRIANGLE_MASKS | MESH_QUERY_MASKS };
    static const probe_options plain = {1, {0}}, at_rest = {2, {0, MASKS}},
                               all = {2, {MASKS | MESH_CULL_BACK | MESH_SKIP_PARTING, MASKS | MESH_SKIP}};
    return like->kind != &caromi_first_hit ? &at_rest : like->options ? &all : &plain;
}

/* Builds and probes the programs of a batch. list: NULL for queries with one answer each. */
static carom_status probe(caromi_device *d, const caromi_mesh_batch *like, const caromi_list_batch *list,
                          carom_error *err)
{
    const probe_options *asked = options_of(like);
    carom_mesh *mesh = NULL;
    mesh_probe *p = caromi_alloc(d->context, 1, sizeof *p);
    if (p == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the bit probe (%zu bytes)", sizeof *p);
    memset(p, 0, sizeof *p);
    d->probing = 1;
    carom_status status = make_probe(like, asked->options[asked->count - 1], p, &mesh, err);
    for (int i = 0; status == CAROM_OK && i < asked->count; i++) {
        const int options = asked->options[i] | (like->options & MESH_ENDS);
        status = list != NULL ? run_list_probe(d, mesh, list, options, p, err)
                              : run_mesh_probe(d, mesh, like, options, p, err);
    }
    if (mesh != NULL)
        caromi_mesh_end(mesh);
    d->probing = 0;
    caromi_free(d->context, p);
    return status;
}

/* The bit of `probed` for a batch: programs are probed with velocities and with end positions separately. */
static int kind_of_motion(const caromi_mesh_batch *batch)
{
    return (batch->options & MESH_ENDS) != 0 ? 2 : 1;
}

carom_status caromi_probe_mesh(caromi_device *d, const caromi_mesh_batch *batch, carom_error *err)
{
    const int motion = kind_of_motion(batch);
    const uint32_t search = caromi_batch_search_program(batch), points = caromi_batch_points_program(batch);
    const int wants_points = caromi_wants_points(batch);
    caromi_program *first = &d->programs[search], *second = &d->programs[points];
    if ((first->probed & motion) != 0 && ((second->probed & motion) != 0 || !wants_points))
        return CAROM_OK;
    carom_status status = caromi_program_build(d, search, err);
    if (status == CAROM_OK && wants_points)
        status = caromi_program_build(d, points, err);
    if (status != CAROM_OK)
        return status;
    status = probe(d, batch, NULL, err);
    first->probed |= status == CAROM_OK ? motion : 0;
    second->probed |= status == CAROM_OK && wants_points ? motion : 0;
    return status;
}

carom_status caromi_probe_list(caromi_device *d, const caromi_list_batch *batch, carom_error *err)
{
    const int motion = kind_of_motion(&batch->sweep);
    const uint32_t program = caromi_list_program(batch);
    if ((d->programs[program].probed & motion) != 0)
        return CAROM_OK;
    carom_status status = caromi_program_build(d, program, err);
    if (status == CAROM_OK)
        status = probe(d, &batch->sweep, batch, err);
    d->programs[program].probed |= status == CAROM_OK ? motion : 0;
    return status;
}
