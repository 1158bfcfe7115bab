/* SPDX-License-Identifier: MIT */
/* First hits that the exact search leaves undecided, some queries together. A fast search guesses when each hits. The
 * triangles that may be hit until a little later are listed and decided in lanes, and the first of them is the hit. If
 * there is none, the guess was wrong, and the query is searched alone (cpu/mesh/resolve_mesh.h). */
#include "first_hits.h"

#include <math.h>

#include "host/bvh/triangle.h"
#include "block.h"
#include "list.h"
#include "mesh.h"

enum {
    GROUP = CAROMI_FIRST_HITS,
    RECORDS = 32 * GROUP,
    TRIANGLES = 30 /* about as many as a sphere may overlap */
};

/* Queries as columns, and what the searches say of them. */
typedef struct first_hits {
    caromi_list_batch batch;
    caromi_mesh_query query[GROUP];
    float in[CAROMI_MESH_IN][GROUP], t[GROUP];
    int32_t mask[GROUP], triangle[GROUP];
    uint8_t state[GROUP];
    caromi_hit_outcome outcome[GROUP];
    mesh_record record[RECORDS];
} first_hits;

/* The columns of queries [from, from + count). */
static caromi_mesh_queries columns_of(first_hits *work, uint32_t from, uint32_t count)
{
    const caromi_mesh_batch *sweep = &work->batch.sweep;
    caromi_mesh_queries queries = {.mask = sweep->mask.base != NULL ? work->mask + from : NULL,
                                   .options = sweep->options,
                                   .triangle = work->triangle + from,
                                   .state = work->state + from,
                                   .t = work->t + from,
                                   .count = count,
                                   .records = work->record,
                                   .capacity = RECORDS};
    for (int column = 0; column < CAROMI_MESH_IN; column++)
        queries.in[column] = work->in[column] + from;
    return queries;
}

static void search(first_hits *work, enum caromi_mesh_search kind, int exact, caromi_mesh_queries *queries)
{
    const carom_mesh *mesh = work->batch.sweep.mesh;
    caromi_searches_of(mesh)->search[kind][exact](&mesh->view, queries);
}

/* Stores a query at place i, with a window. */
static void store(first_hits *work, uint32_t i, const caromi_mesh_query *query, float until)
{
    work->query[i] = *query;
    work->mask[i] = query->mask;
    for (int column = 0; column < CAROMI_MESH_IN; column++)
        work->in[column][i] = query->in[column];
    work->in[MESH_T_MAX][i] = until;
}

static void load(first_hits *work, const uint64_t *rows, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        const caromi_mesh_query query = caromi_mesh_query_of(&work->batch.sweep, rows[i]);
        store(work, i, &query, query.in[MESH_T_MAX]);
    }
}

/* The end of the list's window: the guess, and the time that an eighth of the radius takes. */
static float window_of(const caromi_mesh_query *query, float guess)
{
    const float *in = query->in;
    double square = 0;
    for (int axis = 0; axis < 3; axis++) {
        const double from = (query->options & MESH_ENDS) != 0 ? (double)in[MESH_CX + axis] : 0;
        square += ((double)in[MESH_VX + axis] - from) * ((double)in[MESH_VX + axis] - from);
    }
    const double until = (double)guess * (1 + 0x1p-8) + (double)in[MESH_RADIUS] / (8 * sqrt(square));
    return until < (double)in[MESH_T_MAX] ? (float)until : in[MESH_T_MAX]; /* also if it is NaN */
}

/* Keeps the first hit of each query among the decided records. */
static void keep_first(const mesh_record *records, uint32_t count, caromi_mesh_answer *answers)
{
    for (uint32_t i = 0; i < count; i++) {
        const mesh_record *record = &records[i];
        caromi_mesh_answer *answer = &answers[record->query];
        if (isnan(record->t) || record->state == CAROM_MISS || record->t > answer->key ||
            (record->t == answer->key && answer->triangle >= 0 && record->triangle > answer->triangle))
            continue;
        answer->triangle = record->triangle;
        answer->state = (uint8_t)record->state;
        answer->key = record->t;
    }
}

/* Decides the records that are undecided, unless they come after a hit that is decided. */
static void decide_records(first_hits *work, uint32_t from, uint32_t count, const caromi_mesh_answer *answers)
{
    caromi_undecided_hits undecided;
    caromi_undecided_hits_begin(&undecided, work->batch.sweep.mesh->context->isa);
    for (uint32_t i = 0; i < count; i++) {
        mesh_record *record = &work->record[i];
        const uint32_t number = from + (uint32_t)record->query;
        const float limit = work->query[number].in[MESH_T_MAX], best = answers[record->query].key;
        if (isnan(record->t))
            caromi_add_undecided_record(&work->batch, &work->query[number], best < limit ? best : limit, record,
                                        &undecided, &work->outcome[number]);
    }
    caromi_undecided_hits_decide(&undecided);
}

/* Lists and decides queries [from, from + count). A hit at the end of the window may not be the first: others that
 * round to the same time may lie behind it. Such a query, and one without a hit in a window that ends before t_max, is
 * searched alone. */
static void decide(first_hits *work, uint32_t from, uint32_t count, caromi_mesh_answer *answers, caromi_rung *rungs)
{
    const caromi_mesh_batch *sweep = &work->batch.sweep;
    caromi_mesh_queries queries = columns_of(work, from, count);
    search(work, CAROMI_MESH_LIST, 1, &queries);
    if (queries.found > queries.capacity && count > 1) {
        decide(work, from, count / 2, answers, rungs);
        decide(work, from + count / 2, count - count / 2, answers + count / 2, rungs + count / 2);
        return;
    }
    const uint32_t found = queries.found <= queries.capacity ? queries.found : 0;
    for (uint32_t i = 0; i < count; i++) {
        work->outcome[from + i] = (caromi_hit_outcome){.rung = CAROMI_SECOND_FILTER};
        answers[i] = (caromi_mesh_answer){.triangle = -1, .state = CAROM_MISS, .key = INFINITY};
    }
    keep_first(work->record, found, answers);
    decide_records(work, from, found, answers);
    keep_first(work->record, found, answers);
    for (uint32_t i = 0; i < count; i++) {
        const float until = work->in[MESH_T_MAX][from + i];
        const int is_whole = found == queries.found && until == work->query[from + i].in[MESH_T_MAX];
        rungs[i] = is_whole || answers[i].key < until
                       ? work->outcome[from + i].rung
                       : sweep->kind->resolve(&sweep->mesh->view, &work->query[from + i], &answers[i]);
    }
}

/* Whether a list pays. A sphere that is much larger than the triangle which a fast search has found may overlap very
 * many; then a search alone, which keeps the least index at time 0, takes less. Such triangles, side by side, cover the
 * sphere's width along the longest edge and across it. */
static int pays(const first_hits *work, uint32_t i)
{
    const double width = 2 * (double)work->query[i].in[MESH_RADIUS];
    double edge[3][3], square[3], across = 0, longest = 0;
    float corners[9];
    if (work->triangle[i] < 0)
        return 1;
    caromi_triangle_corners(work->batch.sweep.mesh, (uint32_t)work->triangle[i], corners);
    for (int k = 0; k < 3; k++) {
        for (int axis = 0; axis < 3; axis++)
            edge[k][axis] = (double)corners[3 * ((k + 1) % 3) + axis] - (double)corners[3 * k + axis];
        square[k] = edge[k][0] * edge[k][0] + edge[k][1] * edge[k][1] + edge[k][2] * edge[k][2];
        longest = fmax(longest, square[k]);
    }
    for (int axis = 0; axis < 3; axis++) {
        const int next = (axis + 1) % 3, last = (axis + 2) % 3;
        const double normal = edge[0][next] * edge[1][last] - edge[0][last] * edge[1][next];
        across += normal * normal;
    }
    const double length = sqrt(longest), height = sqrt(across) / length; /* NaN of a point: no list */
    return (1 + width / length) * (1 + width / height) <= TRIANGLES;
}

void caromi_resolve_first_hits(const caromi_mesh_batch *batch, const uint64_t *rows, uint32_t count,
                               caromi_mesh_answer *answers, caromi_rung *rungs)
{
    first_hits work; /* its arrays are set as far as they are used */
    caromi_mesh_answer listed_answer[GROUP];
    caromi_rung listed_rung[GROUP];
    uint32_t listed[GROUP], lists = 0;
    work.batch = (caromi_list_batch){.sweep = *batch, .search = CAROMI_MESH_LIST};
    caromi_mesh_queries queries = columns_of(&work, 0, count);
    load(&work, rows, count);
    search(&work, CAROMI_MESH_FIRST, 0, &queries);
    for (uint32_t i = 0; i < count; i++)
        if (pays(&work, i)) {
            const float until = window_of(&work.query[i], work.t[i]);
            listed[lists] = i;
            store(&work, lists++, &work.query[i], until);
        } else {
            rungs[i] = batch->kind->resolve(&batch->mesh->view, &work.query[i], &answers[i]);
        }
    if (lists > 0)
        decide(&work, 0, lists, listed_answer, listed_rung);
    for (uint32_t i = 0; i < lists; i++) {
        answers[listed[i]] = listed_answer[i];
        rungs[listed[i]] = listed_rung[i];
    }
}
