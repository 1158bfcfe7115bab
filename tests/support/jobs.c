/* SPDX-License-Identifier: MIT */
#include "jobs.h"

enum { SEED = 177, SIDES = 6, FILL = 0x5a, SLAB = 64 };

const char *const job_call_names[JOB_CALLS] = {"pairs", "first hits", "all hits", "closest", "lattice", "cloud"};

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static void spread(swept_spheres *b)
{
    for (size_t i = JOB_SOME; i < b->count; i++)
        for (int c = 0; c < SPHERE_T_MAX; c++)
            b->column[c][i] = c == 0 ? (float)(100 + i) : 0.0f;
}

carom_context *job_context(uint32_t threads, carom_allocator hooks)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_context *context = NULL;
    carom_error err = {0};
    desc.backend = CAROM_BACKEND_CPU;
    desc.threads = threads;
    test_need_processors(threads);
    desc.allocator = hooks;
    test_ok("carom_context_create", carom_context_create(&desc, &context, &err), &err);
    return context;
}

job_room job_room_make(carom_context *context, size_t count)
{
    job_room r = {.context = context, .count = count, .b = swept_spheres_alloc(count)};
    swept_spheres some = swept_spheres_mixed(SEED, JOB_SOME);
    scene s = scene_sphere(SIDES);
    for (int c = 0; c < SPHERE_COLUMNS; c++)
        memcpy(r.b.column[c], some.column[c], (count < JOB_SOME ? count : JOB_SOME) * sizeof(float));
    if (count > JOB_SOME)
        spread(&r.b);
    r.lattice = (carom_lattice){.origin = {-2, -2, -2}, .spacing = 4.0 / SLAB, .dims = {SLAB, SLAB, 1}};
    r.lattice.dims[2] = 1 + count / (SLAB * SLAB);
    r.mesh = scene_mesh(context, &s);
    scene_free(&s);
    swept_spheres_free(&some);
    return r;
}

void job_room_free(job_room *r)
{
    carom_mesh_destroy(r->mesh);
    carom_context_destroy(r->context);
    swept_spheres_free(&r->b);
}

uint64_t job_queries(const job_room *r, int call)
{
    return call == JOB_LATTICE ? r->lattice.dims[2] : r->count;
}

/* ---- outputs ----------------------------------------------------------------------------------------------------- */

/* Totals, offsets and records of a list, behind each other; of other calls two columns. */
typedef struct layout {
    size_t count, capacity;
    carom_list_totals *totals;
    uint64_t *offsets, *query;
    int32_t *a, *b;
    float *number;
} layout;

static int is_list(int call)
{
    return call == JOB_LIST || call == JOB_CLOUD;
}

static size_t columns_of(const layout *l, int call)
{
    return is_list(call) ? l->capacity : l->count;
}

static layout sizes_of(const job_room *r, int call)
{
    const size_t nodes = call == JOB_LATTICE ? SLAB * SLAB : 1;
    return (layout){.count = (size_t)job_queries(r, call) * nodes, .capacity = JOB_SOME / 10};
}

size_t job_bytes(const job_room *r, int call)
{
    const layout l = sizes_of(r, call);
    const size_t head = is_list(call) ? sizeof *l.totals + (l.count + 1) * sizeof *l.offsets : 0;
    return head + (call == JOB_LIST ? l.capacity * sizeof *l.query : 0) +
           columns_of(&l, call) * (sizeof *l.a + sizeof *l.b);
}

static layout lay_out(const job_room *r, int call, void *out)
{
    layout l = sizes_of(r, call);
    char *at = out;
    if (is_list(call)) {
        l.totals = (void *)at;
        l.offsets = (void *)(at += sizeof *l.totals);
        at += (l.count + 1) * sizeof *l.offsets;
    }
    if (call == JOB_LIST) {
        l.query = (void *)at;
        at += l.capacity * sizeof *l.query;
    }
    l.a = (void *)at;
    l.b = (void *)(at + columns_of(&l, call) * sizeof *l.a);
    l.number = (void *)l.b;
    return l;
}

unsigned char *job_blank(const job_room *r, int call)
{
    unsigned char *out = test_alloc(1, job_bytes(r, call));
    memset(out, FILL, job_bytes(r, call));
    return out;
}

void job_compare(const job_room *r, int call, const unsigned char *expected, const unsigned char *got, uint64_t done)
{
    const layout e = lay_out(r, call, (void *)(uintptr_t)expected), g = lay_out(r, call, (void *)(uintptr_t)got);
    const size_t nodes = call == JOB_LATTICE ? SLAB * SLAB : 1, count = (size_t)done * nodes;
    if (is_list(call)) {
        assert_memory_equal(e.offsets, g.offsets, (count + 1) * sizeof *e.offsets);
        assert_int_equal(g.totals->total, g.offsets[count]);
    } else {
        assert_memory_equal(e.a, g.a, count * sizeof *e.a);
        assert_memory_equal(e.number, g.number, count * sizeof *e.number);
    }
    if (done == job_queries(r, call))
        assert_memory_equal(expected, got, job_bytes(r, call));
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

static carom_status ask_pairs(const job_room *r, const carom_batch *batch, const layout *l, carom_stats *stats,
                              carom_error *err)
{
    static const float p[9] = {-1, -1, 0, 2, -1, 0, -1, 2, 0.5f};
    const carom_mesh_sweep_desc s = swept_spheres_desc(&r->b, 0, r->count);
    carom_sweep_pairs_desc d = {.batch = *batch,
                                .center = s.center,
                                .velocity = s.velocity,
                                .radius = s.radius,
                                .p0 = carom_repeat(p),
                                .p1 = carom_repeat(p + 3),
                                .p2 = carom_repeat(p + 6)};
    d.batch.size = sizeof d;
    /* Both columns are times. */
    const carom_sweep_result out = {.size = sizeof out, .t_first = l->number, .t_last = (float *)(void *)l->a};
    return carom_sweep_pairs(r->context, &d, &out, stats, err);
}

static carom_status ask_first(const job_room *r, const carom_batch *batch, const layout *l, carom_stats *stats,
                              carom_error *err)
{
    carom_mesh_sweep_desc d = swept_spheres_desc(&r->b, 0, r->count);
    const carom_mesh_hit_result out = {.size = sizeof out, .triangle = l->a, .t = l->number};
    d.batch = *batch;
    d.batch.size = sizeof d;
    return carom_mesh_sweep_first(r->mesh, &d, &out, stats, err);
}

static carom_status ask_list(const job_room *r, const carom_batch *batch, const layout *l, carom_stats *stats,
                             carom_error *err)
{
    carom_mesh_sweep_desc d = swept_spheres_desc(&r->b, 0, r->count);
    const carom_hit_list out = {.size = sizeof out,
                                .capacity = l->capacity,
                                .offsets = l->offsets,
                                .query = l->query,
                                .triangle = l->a,
                                .t = l->number,
                                .totals = l->totals};
    d.batch = *batch;
    d.batch.size = sizeof d;
    return carom_mesh_sweep_list(r->mesh, &d, CAROM_HITS_ALL, &out, stats, err);
}

static carom_status ask_closest(const job_room *r, const carom_batch *batch, const layout *l, carom_stats *stats,
                                carom_error *err)
{
    carom_mesh_closest_desc d = swept_spheres_closest(&r->b, 0, r->count);
    const carom_mesh_closest_result out = {.size = sizeof out, .triangle = l->a, .distance = l->number};
    d.batch = *batch;
    d.batch.size = sizeof d;
    return carom_mesh_closest(r->mesh, &d, &out, stats, err);
}

static carom_status ask_lattice(const job_room *r, const carom_batch *batch, const layout *l, carom_stats *stats,
                                carom_error *err)
{
    static const float band = 0.25f;
    carom_mesh_distance_desc d = {.batch = *batch, .lattice = r->lattice, .sign = CAROM_SIGN_PARITY, .band = &band};
    const carom_mesh_distance_result out = {.size = sizeof out, .triangle = l->a, .distance = l->number};
    d.batch.size = sizeof d;
    return carom_mesh_distance(r->mesh, &d, &out, stats, err);
}

static carom_status ask_cloud(const job_room *r, const carom_batch *batch, const layout *l, carom_stats *stats,
                              carom_error *err)
{
    const carom_mesh_sweep_desc s = swept_spheres_desc(&r->b, 0, r->count);
    carom_cloud_desc d = {.batch = *batch, .center = s.center, .radius = s.radius};
    const carom_cloud_pair_list out = {
        .size = sizeof out, .capacity = l->capacity, .offsets = l->offsets, .a = l->a, .b = l->b, .totals = l->totals};
    d.batch.size = sizeof d;
    return carom_cloud_list(r->context, &d, &out, stats, err);
}

carom_status job_ask(const job_room *r, int call, const carom_batch *how, void *out, carom_stats *stats,
                     carom_error *err)
{
    static carom_status (*const asks[JOB_CALLS])(const job_room *, const carom_batch *, const layout *, carom_stats *,
                                                 carom_error *) = {ask_pairs,   ask_first,   ask_list,
                                                                   ask_closest, ask_lattice, ask_cloud};
    const layout l = lay_out(r, call, out);
    carom_batch batch = *how;
    batch.count = job_queries(r, call);
    return asks[call](r, &batch, &l, stats, err);
}

unsigned char *job_answers(const job_room *r, int call)
{
    const carom_batch blocking = {0};
    carom_error err = {0};
    unsigned char *out = job_blank(r, call);
    test_ok(job_call_names[call], job_ask(r, call, &blocking, out, NULL, &err), &err);
    return out;
}

carom_job *job_submit(const job_room *r, int call, void *out, carom_stats *stats)
{
    carom_job *job = NULL;
    const carom_batch how = {.job = &job};
    carom_error err = {0};
    test_ok(job_call_names[call], job_ask(r, call, &how, out, stats, &err), &err);
    assert_non_null(job);
    return job;
}

carom_job_info job_info(const carom_job *job)
{
    carom_job_info info = {.size = sizeof info};
    carom_error err = {0};
    test_ok("carom_job_get_info", carom_job_get_info(job, &info, &err), &err);
    return info;
}

void job_end(carom_job *job)
{
    carom_error err = {0};
    test_ok("carom_job_wait", carom_job_wait(job, FOR_EVER, &err), &err);
    carom_job_destroy(job);
}

/* ---- held -------------------------------------------------------------------------------------------------------- */

static int hold(void *user, uint64_t done, uint64_t count)
{
    held_job *h = user;
    (void)done, (void)count;
    (void)sem_post(&h->begun);
    while (sem_wait(&h->go) != 0)
        ;
    return 0;
}

carom_progress held_progress(held_job *h)
{
    memset(h, 0, sizeof *h);
    assert_int_equal(sem_init(&h->begun, 0, 0), 0);
    assert_int_equal(sem_init(&h->go, 0, 0), 0);
    atomic_init(&h->is_free, 0);
    return (carom_progress){hold, h};
}

void held_submit(carom_context *context, held_job *h)
{
    static const float at[3] = {1, 1, 2}, motion[3] = {0, 0, -1}, radius = 0.5f, p[9] = {0, 0, 0, 4, 0, 0, 0, 4, 0};
    carom_error err = {0};
    const carom_progress progress = held_progress(h);
    const carom_sweep_pairs_desc d = {
        .batch = {.size = sizeof d, .count = 1, .progress = progress, .job = &h->job},
        .center = carom_repeat(at),
        .velocity = carom_repeat(motion),
        .radius = {&radius, CAROM_REPEAT},
        .p0 = carom_repeat(p),
        .p1 = carom_repeat(p + 3),
        .p2 = carom_repeat(p + 6),
    };
    const carom_sweep_result out = {.size = sizeof out, .t_first = &h->answer};
    test_ok("a held job", carom_sweep_pairs(context, &d, &out, NULL, &err), &err);
}

void held_wait_begun(held_job *h)
{
    while (sem_wait(&h->begun) != 0)
        ;
}

void held_begin(carom_context *context, held_job *h)
{
    held_submit(context, h);
    held_wait_begun(h);
}

void held_let_go(held_job *h)
{
    atomic_store(&h->is_free, 1);
    (void)sem_post(&h->go);
}

static void *let_go(void *user)
{
    enum { TIMES = 3 };
    held_job *h = user;
    carom_error err = {0};
    for (int i = 0; i < TIMES; i++)
        test_error(carom_job_wait(h->job, 0.01, &err), CAROM_ERROR_TIMEOUT, &err, "after 0.01 s; it goes on");
    held_let_go(h);
    return NULL;
}

void held_let_go_later(held_job *h)
{
    assert_int_equal(pthread_create(&h->thread, NULL, let_go, h), 0);
    h->has_thread = 1;
}

void held_end(held_job *h)
{
    if (h->has_thread)
        assert_int_equal(pthread_join(h->thread, NULL), 0);
    job_end(h->job);
    (void)sem_destroy(&h->begun);
    (void)sem_destroy(&h->go);
}
