/* SPDX-License-Identifier: MIT */
/* The bit probe of the mesh kernels: as probe.c, on a small mesh of unkind triangles. */
#include <math.h>
#include <string.h>

#include "probe.h"
#include "host/mesh/list.h"

enum { QUERIES = 64, GROUP = 16 /* of a work-item */, TRIANGLES = 400, HITS = 1 << 12 };

typedef struct probe_answers {
    int32_t triangle[QUERIES];
    float t[QUERIES], point[3][QUERIES], normal[3][QUERIES];
    uint8_t state[QUERIES], feature[QUERIES];
} probe_answers;

typedef struct list_answers {
    uint64_t offsets[QUERIES + 1];
    int32_t triangle[HITS];
    uint8_t state[HITS], any[QUERIES];
    float t[HITS];
} list_answers;

typedef struct mesh_probe {
    float vertices[9 * TRIANGLES];
    uint32_t masks[TRIANGLES], mask[QUERIES];
    float in[CAROMI_MESH_IN][QUERIES];
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

/* A small sphere that goes slowly, and not for long; what is not a number stays so. */
static void limit(float *row)
{
    for (int c = 3; c < CAROMI_MESH_IN; c++) {
        const float most = c == 3 ? 0x1p-8f : c == 7 ? 0x1p-4f : 1.0f;
        row[c] = row[c] > most ? most : row[c] < -1.0f ? -1.0f : row[c];
    }
}

static void make_queries(uint64_t *state, mesh_probe *p)
{
    for (uint32_t i = 0; i < QUERIES; i++) {
        float row[CAROMI_MESH_IN];
        caromi_probe_row(state, row, CAROMI_MESH_IN, RADII_SWEEP);
        row[3] *= i % 2 ? 0.125f : 1.0f;
        for (int k = 0; i % 4 == 0 && k < 3; k++) /* aimed at the middle */
            row[4 + k] = row[k] * -0.5f;
        const float t_max = fabsf(row[7]);
        row[7] = i % 4 != 3 || !(t_max >= 0) ? INFINITY : t_max;
        /* With few hits each: of these a list has the records that the first pass has written. */
        if (i / GROUP % 2 == 0)
            limit(row);
        for (int c = 0; c < CAROMI_MESH_IN; c++)
            p->in[c][i] = row[c];
    }
}

static carom_mesh_hit_result answers_out(probe_answers *a)
{
    return (carom_mesh_hit_result){.triangle = a->triangle,
                                   .state = a->state,
                                   .t = a->t,
                                   .feature = a->feature,
                                   .point = {a->point[0], a->point[1], a->point[2], sizeof(float)},
                                   .normal = {a->normal[0], a->normal[1], a->normal[2], sizeof(float)}};
}

static carom_status compare_answers(const caromi_device *d, const probe_answers *a, const probe_answers *b,
                                    carom_error *err)
{
    const uint32_t first = CAROMI_PROGRAM_MESH_FIRST, contact = CAROMI_PROGRAM_MESH_CONTACT;
    carom_status status =
        caromi_probe_compare(d, first, QUERIES, 0, a->triangle, b->triangle, sizeof *a->triangle, err);
    if (status == CAROM_OK)
        status = caromi_probe_compare(d, first, QUERIES, 1, a->state, b->state, sizeof *a->state, err);
    if (status == CAROM_OK)
        status = caromi_probe_compare(d, first, QUERIES, 2, a->t, b->t, sizeof *a->t, err);
    for (uint32_t k = 0; status == CAROM_OK && k < 3; k++)
        status = caromi_probe_compare(d, contact, QUERIES, k, a->point[k], b->point[k], sizeof(float), err);
    for (uint32_t k = 0; status == CAROM_OK && k < 3; k++)
        status = caromi_probe_compare(d, contact, QUERIES, 3 + k, a->normal[k], b->normal[k], sizeof(float), err);
    return status != CAROM_OK ? status : caromi_probe_compare(d, contact, QUERIES, 6, a->feature, b->feature, 1, err);
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

static carom_status make_probe(carom_context *context, mesh_probe *p, int options, carom_mesh **mesh, carom_error *err)
{
    uint64_t state = 2;
    caromi_probe_triangles(&state, p->vertices, TRIANGLES);
    make_queries(&state, p);
    caromi_probe_masks(3, p->masks, TRIANGLES);
    caromi_probe_masks(4, p->mask, QUERIES);
    for (uint32_t i = 0; i < QUERIES; i++)
        p->mask[i] = i % 8 == 0 ? 0 : p->mask[i] & 0xff00ff00u;
    const carom_mesh_desc desc = {.size = sizeof desc,
                                  .vertices = {p->vertices, p->vertices + 1, p->vertices + 2, 12},
                                  .vertex_count = 3 * TRIANGLES,
                                  .triangle_count = TRIANGLES,
                                  .masks = options ? p->masks : NULL};
    return carom_mesh_create(context, &desc, mesh, err);
}

/* The questions of the probe, like those of a batch. */
static caromi_mesh_batch batch_of(const mesh_probe *p, carom_mesh *mesh, const caromi_mesh_batch *like,
                                  const carom_mesh_hit_result *out)
{
    caromi_mesh_batch batch = {
        .mesh = mesh, .count = QUERIES, .exact = like->exact, .options = like->options, .out = out};
    for (int c = 0; c < CAROMI_MESH_IN; c++)
        batch.in[c] = (caromi_in_column){p->in[c], sizeof(float), NULL};
    if (like->options)
        batch.mask = (caromi_in_column){p->mask, sizeof(uint32_t), NULL};
    return batch;
}

static carom_status run_mesh_probe(caromi_device *d, carom_mesh *mesh, const caromi_mesh_batch *like, mesh_probe *p,
                                   carom_error *err)
{
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    int chosen;
    const carom_context scalar = {.desc = d->context->desc, .isa = caromi_isa_select(CAROM_ISA_SCALAR, &chosen)};
    carom_mesh_hit_result out = answers_out(&p->expected);
    caromi_mesh_batch batch = batch_of(p, mesh, like, &out);
    batch.wants_contact = like->wants_contact;
    if (!batch.wants_contact) {
        out.point.x = out.point.y = out.point.z = out.normal.x = out.normal.y = out.normal.z = NULL;
        out.feature = NULL;
    }
    carom_status status = caromi_cpu_mesh(&scalar, &batch, 0, QUERIES, &stats, err);
    if (status == CAROM_OK) {
        out = answers_out(&p->got);
        status = caromi_stream_mesh(d, &batch, QUERIES, &done, &stats, err);
    }
    return status == CAROM_OK ? compare_answers(d, &p->got, &p->expected, err) : status;
}

static carom_mesh_hit_list list_out(list_answers *a)
{
    return (carom_mesh_hit_list){.size = sizeof(carom_mesh_hit_list),
                                 .capacity = HITS,
                                 .offsets = a->offsets,
                                 .triangle = a->triangle,
                                 .state = a->state,
                                 .t = a->t};
}

/* Whether there is a hit: a device that knows of a sure one stops there. */
static carom_status run_any_probe(caromi_device *d, const carom_context *scalar, const caromi_list_batch *list,
                                  mesh_probe *p, carom_error *err)
{
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    const carom_mesh_hit_result none = {0};
    caromi_list_batch batch = {.search = list->search, .sweep = list->sweep, .any = p->list_expected.any};
    batch.sweep.out = &none;
    carom_status status = caromi_cpu_list(scalar, &batch, 0, QUERIES, &stats, err);
    batch.any = p->list_got.any;
    if (status == CAROM_OK)
        status = caromi_stream_list(d, &batch, QUERIES, &done, &stats, err);
    return status != CAROM_OK ? status
                              : caromi_probe_compare(d, caromi_list_program(&batch), QUERIES, 4, p->list_got.any,
                                                     p->list_expected.any, 1, err);
}

/* Counts of all queries, as many hits as there is room for, and whether there are any. */
static carom_status run_list_probe(caromi_device *d, carom_mesh *mesh, const caromi_mesh_batch *like,
                                   enum caromi_mesh_search search, mesh_probe *p, carom_error *err)
{
    uint64_t done = 0;
    carom_stats stats = {.size = sizeof stats};
    int chosen;
    const carom_context scalar = {.desc = d->context->desc, .isa = caromi_isa_select(CAROM_ISA_SCALAR, &chosen)};
    carom_mesh_hit_list got = list_out(&p->list_got), expected = list_out(&p->list_expected);
    const carom_mesh_hit_result got_columns = {.triangle = got.triangle, .state = got.state, .t = got.t};
    const carom_mesh_hit_result expected_columns = {
        .triangle = expected.triangle, .state = expected.state, .t = expected.t};
    caromi_list_batch batch = {.search = search, .list = &expected};
    batch.sweep = batch_of(p, mesh, like, &expected_columns);
    const uint32_t program = caromi_list_program(&batch);
    carom_status status = caromi_cpu_list(&scalar, &batch, 0, QUERIES, &stats, err);
    if (status != CAROM_OK)
        return status;
    batch.list = &got;
    batch.sweep.out = &got_columns;
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
    return status == CAROM_OK ? run_any_probe(d, &scalar, &batch, p, err) : status;
}

/* list: NULL for first hits. A program with options is asked with each: the policies at the start exclude each other. */
static carom_status probe(caromi_device *d, const caromi_mesh_batch *like, const caromi_list_batch *list,
                          carom_error *err)
{
    static const int masks = MESH_TRIANGLE_MASKS | MESH_QUERY_MASKS,
                     policies[] = {MESH_CULL_BACK | MESH_SKIP_PARTING, MESH_SKIP};
    carom_mesh *mesh = NULL;
    mesh_probe *p = caromi_alloc(d->context, 1, sizeof *p);
    if (p == NULL)
        return caromi_fail(err, CAROM_ERROR_OUT_OF_MEMORY, 0, "no memory for the bit probe (%zu bytes)", sizeof *p);
    memset(p, 0, sizeof *p);
    d->probing = 1;
    carom_status status = make_probe(like->mesh->context, p, like->options, &mesh, err);
    for (int i = 0; status == CAROM_OK && i < (like->options ? 2 : 1); i++) {
        caromi_mesh_batch asked = *like;
        asked.options = like->options ? masks | policies[i] : 0;
        status = list != NULL ? run_list_probe(d, mesh, &asked, list->search, p, err)
                              : run_mesh_probe(d, mesh, &asked, p, err);
    }
    carom_mesh_destroy(mesh);
    d->probing = 0;
    caromi_free(d->context, p);
    return status;
}

carom_status caromi_probe_mesh(caromi_device *d, const caromi_mesh_batch *batch, carom_error *err)
{
    const int exact = batch->exact, contact = batch->wants_contact;
    const uint32_t programs[2] = {caromi_search_program(CAROMI_PROGRAM_MESH_FIRST, exact, batch->options),
                                  exact ? CAROMI_PROGRAM_MESH_CONTACT_EXACT : CAROMI_PROGRAM_MESH_CONTACT};
    caromi_program *first = &d->programs[programs[0]], *second = &d->programs[programs[1]];
    if (first->probed && (second->probed || !contact))
        return CAROM_OK;
    carom_status status = caromi_program_build(d, programs[0], err);
    if (status == CAROM_OK && contact)
        status = caromi_program_build(d, programs[1], err);
    if (status != CAROM_OK)
        return status;
    status = probe(d, batch, NULL, err);
    first->probed = status == CAROM_OK;
    second->probed = status == CAROM_OK && (contact || second->probed);
    return status;
}

carom_status caromi_probe_list(caromi_device *d, const caromi_list_batch *batch, carom_error *err)
{
    const uint32_t program = caromi_list_program(batch);
    if (d->programs[program].probed)
        return CAROM_OK;
    carom_status status = caromi_program_build(d, program, err);
    if (status == CAROM_OK)
        status = probe(d, &batch->sweep, batch, err);
    d->programs[program].probed = status == CAROM_OK;
    return status;
}
