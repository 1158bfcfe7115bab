/* SPDX-License-Identifier: MIT */
/* The narrow phase: the solver computes the pairs that the scan's filter leaves undecided, and the start
 * policy decides which pairs are hits. */
#include <math.h>
#include <string.h>

#include "narrow_phase.h"
#include "cpu/resolve.h"

enum {
    PAIRS = CAROMI_CLOUD_PAIRS, /* pairs of one solver call, a multiple of every lane count */
    TASKS_EACH = 16,            /* tasks of each thread, so that none waits long for another at the end */
    NO_OPTIONS = 0,
    TASKS_REPORTED = 64 /* least number of tasks where the caller asked for progress reports */
};

/* The buffers of one thread: pairs found by the scan, and the solver's input and output columns. */
typedef struct caromi_narrow_work {
    caromi_cloud_found found; /* first member: the scan's callbacks get a pointer to it, which is cast back */
    const caromi_cloud_scan *scan;
    uint32_t thread;
    uint64_t resolved;
    float in[IN_CLOUD][PAIRS];
    float t[PAIRS];
    uint8_t state[PAIRS], parts[PAIRS];
    caromi_cloud_pair pairs[PAIRS];
} narrow_work;

/* ---- which pair -------------------------------------------------------------------------------------------------- */

/* The pair of two slots: sphere a is the one of the lower index. If they change sides, the image is the opposite one.
 */
caromi_cloud_pair caromi_narrow_phase_orient(const caromi_cloud_scan *scan, int image, uint32_t slot, uint32_t other)
{
    const uint32_t index = scan->cells->index[slot], other_index = scan->cells->index[other];
    const int image_of_b = index < other_index ? CAROMI_IMAGES - 1 - image : image;
    return (caromi_cloud_pair){.a = index < other_index ? slot : other,
                               .b = index < other_index ? other : slot,
                               .image = (uint8_t)image_of_b,
                               .by = index > other_index};
}

/* ---- the solver -------------------------------------------------------------------------------------------------- */

/* Copies the caller's inputs of `count` spheres into the solver's columns; input c goes to column to[c]. Sphere i is
 * slot[i * stride]: `slot` points to member a or b of the first element of work->pairs, and the stride leads to the
 * same member of the next pair. Spheres at rest have positions alone: their velocity is 0 and their limit infinite. */
static void gather(narrow_work *work, const int to[CLOUD_COLUMNS], const uint32_t *slot, size_t stride, uint32_t count)
{
    const caromi_cloud_cells *cells = work->scan->cells;
    for (uint32_t number = 0; cells->given != NULL && number < count; number++)
        for (int input = 0; input < CLOUD_COLUMNS; input++)
            work->in[to[input]][number] = cells->given[(size_t)CLOUD_COLUMNS * slot[number * stride] + (size_t)input];
    for (int input = 0; cells->given == NULL && input < CLOUD_COLUMNS; input++)
        for (uint32_t number = 0; number < count; number++)
            work->in[to[input]][number] = input <= CLOUD_R       ? cells->column[input][slot[number * stride]]
                                          : input == CLOUD_T_MAX ? INFINITY
                                                                 : 0;
}

/* Gathers the solver's input columns for the buffered pairs. */
static void gather_pairs(narrow_work *work, uint32_t count)
{
    static const int a_columns[] = {IN_AX, IN_AY, IN_AZ, IN_AR, IN_AVX, IN_AVY, IN_AVZ, IN_LIMIT};
    static const int b_columns[] = {IN_BX, IN_BY, IN_BZ, IN_BR, IN_BVX, IN_BVY, IN_BVZ, IN_MARGIN};
    const caromi_cloud *cloud = work->scan->cloud;
    const size_t stride = sizeof *work->pairs / sizeof(uint32_t);
    const int is_shifted = caromi_cloud_is_periodic(cloud);
    gather(work, a_columns, &work->pairs->a, stride, count);
    gather(work, b_columns, &work->pairs->b, stride, count);
    for (uint32_t i = 0; i < count; i++) {
        const float limit = work->in[IN_LIMIT][i], other = work->in[IN_MARGIN][i];
        work->in[IN_LIMIT][i] = limit < other ? limit : other;
        work->in[IN_MARGIN][i] = cloud->margin;
        for (int k = 0; k < 3; k++)
            work->in[IN_SHIFT_X + k][i] =
                is_shifted ? (float)caromi_image_step(work->pairs[i].image, k) * cloud->period[k] : 0;
    }
}

/* Computes t, state and the parting flag of the gathered pairs; in exact mode integer arithmetic decides the pairs that
 * the kernel leaves undecided. */
static void solve(narrow_work *work, uint32_t count)
{
    const caromi_cloud *cloud = work->scan->cloud;
    const caromi_isa_table *isa = cloud->context->isa;
    const uint32_t padded = (count + isa->lanes - 1) / isa->lanes * isa->lanes;
    caromi_pair_batch batch = {.kernel = cloud->exact ? CAROMI_PAIR_cloud_exact : CAROMI_PAIR_cloud, .count = count};
    const float *in[IN_CLOUD];
    void *out[OUT_CLOUD] = {work->t, work->state, work->parts};
    for (int column = 0; column < IN_CLOUD; column++) { /* pads to whole vectors with copies of the last pair */
        for (uint32_t lane = count; lane < padded; lane++)
            work->in[column][lane] = work->in[column][count - 1];
        in[column] = work->in[column];
        batch.in[column] = (caromi_in_column){.base = work->in[column], .stride = sizeof(float)};
    }
    isa->pairs[batch.kernel](in, out, padded, NO_OPTIONS);
    if (!cloud->exact)
        return;
    for (int column = 0; column < OUT_CLOUD; column++)
        batch.out[column] = (caromi_out_column){out[column], column == OUT_CLOUD_T ? sizeof(float) : 1};
    work->resolved += caromi_resolve_pairs(&batch, work->t, 0, count).integers;
}

/* Whether a solved pair is a hit of this slice, by the start policy and the slice's interval. */
int caromi_narrow_phase_is_hit(const caromi_cloud_scan *scan, float t, uint8_t state, uint8_t parts)
{
    const carom_start start = scan->cloud->start;
    if (state == STATE_MISS)
        return 0;
    if (state == STATE_TOUCHING || state == STATE_OVERLAPPING)
        return scan->is_first && start != CAROM_START_SKIP && !(start == CAROM_START_SKIP_PARTING && parts);
    if (t <= 0)
        return scan->is_first || scan->slice->begin <= 0;
    return (scan->is_first || (double)t >= scan->slice->begin) && (scan->is_last || (double)t < scan->slice->end);
}

/* Solves the undecided pairs of a thread's buffer, and emits the hits among them. */
static void solve_undecided(narrow_work *work)
{
    const caromi_cloud_pairs *undecided = &work->found.undecided;
    const uint32_t count = undecided->count;
    uint32_t hits = 0;
    if (count == 0)
        return;
    for (uint32_t i = 0; i < count; i++)
        work->pairs[i] = caromi_narrow_phase_orient(work->scan, work->found.image, undecided->a[i], undecided->b[i]);
    gather_pairs(work, count);
    solve(work, count);
    /* Compaction: hits move to the front. */
    for (uint32_t i = 0; i < count; i++) {
        caromi_cloud_pair pair = work->pairs[i];
        pair.t = work->t[i];
        pair.state = work->state[i];
        work->pairs[hits] = pair;
        hits += (uint32_t)caromi_narrow_phase_is_hit(work->scan, pair.t, pair.state, work->parts[i]);
    }
    caromi_cloud_watch_pairs(work->scan->cloud->watch, hits);
    if (hits)
        work->scan->emit(work->scan->user, work->thread, work->pairs, hits);
}

/* Empties the buffers of pairs that the filter has proven. */
void caromi_narrow_phase_flush_certain(caromi_cloud_found *found)
{
    const narrow_work *work = (narrow_work *)(void *)found;
    const caromi_cloud_scan *scan = work->scan;
    caromi_cloud_pairs *certain = &found->certain, *near = &found->near;
    if (scan->cloud->start == CAROM_START_SKIP)
        certain->count = 0;
    if (certain->count)
        scan->emit_certain(scan->user, work->thread, certain, found->image, STATE_OVERLAPPING);
    if (near->count)
        scan->emit_certain(scan->user, work->thread, near, found->image, STATE_NEAR);
    caromi_cloud_watch_pairs(scan->cloud->watch, (uint64_t)certain->count + near->count);
    certain->count = near->count = 0;
}

/* Empties a thread's buffers into the scan's callbacks. Thread 0 of the pool is the caller's thread, which alone may
 * call its progress function; a call on a device runs on another thread. */
void caromi_narrow_phase_flush(caromi_cloud_found *found)
{
    narrow_work *work = (narrow_work *)(void *)found;
    const caromi_cloud *cloud = work->scan->cloud;
    if (work->thread == 0 && cloud->device == NULL)
        caromi_cloud_watch_look(cloud->watch);
    found->ends = caromi_cloud_watch_ends(cloud->watch);
    found->long_runs = 0;
    if (!found->ends) {
        caromi_narrow_phase_flush_certain(found);
        solve_undecided(work);
    }
    found->certain.count = found->near.count = found->undecided.count = 0;
}

/* Allocates the buffers of each thread, and empties them. */
carom_status caromi_narrow_phase_begin(const caromi_cloud_scan *scan, caromi_narrow_phase *narrow, carom_error *err)
{
    const carom_context *context = scan->cloud->context;
    narrow->context = context;
    narrow->threads = caromi_pool_threads(caromi_cloud_pool(scan->cloud));
    narrow->works = caromi_cached_alloc(context, narrow->threads, sizeof *narrow->works);
    if (narrow->works == NULL)
        return caromi_fail_memory(err, "no memory for pairs of spheres (%u threads x %zu bytes)", narrow->threads,
                                  sizeof *narrow->works);
    for (uint32_t thread = 0; thread < narrow->threads; thread++) {
        narrow_work *work = &narrow->works[thread];
        work->found.certain.count = work->found.near.count = work->found.undecided.count = work->found.swept.count = 0;
        work->found.image = CAROMI_IMAGE_OWN;
        work->found.long_runs = 0;
        work->found.ends = 0;
        work->found.flush = caromi_narrow_phase_flush;
        work->scan = scan;
        work->thread = thread;
        work->resolved = 0;
    }
    return CAROM_OK;
}

caromi_cloud_found *caromi_narrow_phase_found(const caromi_narrow_phase *narrow, uint32_t thread)
{
    return &narrow->works[thread].found;
}

void caromi_narrow_phase_end(caromi_narrow_phase *narrow, carom_stats *stats)
{
    for (uint32_t thread = 0; stats != NULL && thread < narrow->threads; thread++)
        stats->by_integers += narrow->works[thread].resolved;
    caromi_cached_free(narrow->context, narrow->works);
}

/* ---- tasks ------------------------------------------------------------------------------------------------------- */

/* A scan on the CPU, cut into tasks. */
typedef struct scan_job {
    const caromi_cloud_scan *scan;
    caromi_cloud_view view;
    caromi_narrow_phase narrow;
    uint64_t tasks;
} scan_job;

/* Binary search: the first row that begins at `slot` or later. */
uint32_t caromi_row_from(const caromi_cloud_cells *cells, uint64_t slot)
{
    uint32_t low = 0, high = cells->view.row_count;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (cells->rows[middle].begin < slot)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The treatment of a pair that certainly overlaps where the slice begins: drop it, report it, or leave it to the
 * solver. */
static int begun_of(const caromi_cloud_scan *scan)
{
    const carom_start start = scan->cloud->start;
    if (!scan->is_first || start == CAROM_START_SKIP)
        return CAROMI_BEGUN_DROPPED;
    const int may_be_certain = scan->best == NULL && start == CAROM_START_REPORT;
    return may_be_certain ? CAROMI_BEGUN_CERTAIN : CAROMI_BEGUN_UNDECIDED;
}

/* The cells as the scan of a slice sees them, with the rule for pairs that overlap where the slice begins. */
caromi_cloud_view caromi_narrow_phase_view(const caromi_cloud_scan *scan)
{
    caromi_cloud_view view = scan->cells->view;
    view.motion.begun = begun_of(scan);
    return view;
}

/* The first row of a task: tasks have equal shares of the spheres. */
static uint32_t first_row(const scan_job *job, uint64_t task)
{
    const caromi_cloud_cells *cells = job->scan->cells;
    return caromi_row_from(cells, caromi_slice_start(cells->count, job->tasks, task));
}

/* Task: scans some rows. A device has compared the pairs of spheres already, then only the pairs with periodic images
 * are left. */
static void run_task(void *user, uint64_t task, uint32_t thread)
{
    const scan_job *job = user;
    const caromi_cloud_scan *scan = job->scan;
    const caromi_isa_table *isa = scan->cloud->context->isa;
    caromi_cloud_found *found = caromi_narrow_phase_found(&job->narrow, thread);
    const uint32_t begin = first_row(job, task), end = first_row(job, task + 1);
    if (found->ends)
        return;
    /* has_own: pairs of spheres themselves; has_images: pairs with periodic images. */
    const int has_own = scan->cloud->device == NULL, has_images = job->view.images != NULL;
    if (has_own && scan->best != NULL)
        isa->cloud_best(&job->view, begin, end, scan->best, found);
    else if (has_own)
        isa->cloud_pairs(&job->view, begin, end, found);
    if (has_images && scan->best != NULL)
        isa->cloud_best_images(&job->view, begin, end, scan->best, found);
    else if (has_images)
        isa->cloud_image_pairs(&job->view, begin, end, found);
    caromi_cloud_watch_done(scan->cloud->watch);
    caromi_narrow_phase_flush(found);
}

/* Scans all pairs on a device, or searches best partners there. */
static carom_status run_on_device(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err)
{
    return scan->best == NULL ? caromi_cloud_run_on_device(scan, stats, err)
                              : caromi_cloud_search_on_device(scan, stats, err);
}

/* A single thread needs more than one task only to report progress between tasks. */
static uint64_t tasks_of(const caromi_cloud_scan *scan, uint32_t threads)
{
    const uint64_t least = scan->cloud->watch->call != NULL ? TASKS_REPORTED : 1;
    const uint64_t most = threads > 1 ? (uint64_t)TASKS_EACH * threads : 1, tasks = most > least ? most : least;
    const uint64_t rows = scan->cells->view.row_count;
    return rows < tasks ? rows : tasks;
}

/* Scans the cells: on the device, if there is one, except for periodic images. */
carom_status caromi_cloud_run(const caromi_cloud_scan *scan, carom_stats *stats, carom_error *err)
{
    caromi_pool *pool = caromi_cloud_pool(scan->cloud);
    const uint32_t threads = caromi_pool_threads(pool);
    scan_job job = {.scan = scan, .view = caromi_narrow_phase_view(scan), .tasks = tasks_of(scan, threads)};
    if (scan->cells->view.row_count == 0)
        return CAROM_OK;
    if (scan->cloud->device != NULL) {
        CHECK(run_on_device(scan, stats, err));
        if (job.view.images == NULL)
            return CAROM_OK;
    }
    CHECK(caromi_narrow_phase_begin(scan, &job.narrow, err));
    caromi_cloud_watch_begin(scan->cloud->watch, job.tasks);
    if (scan->cloud->device == NULL) /* other threads may do all tasks before this one begins its first */
        caromi_cloud_watch_look(scan->cloud->watch);
    caromi_parallel(pool, job.tasks, run_task, &job);
    caromi_narrow_phase_end(&job.narrow, stats);
    return caromi_cloud_watch_status(scan->cloud->watch, err);
}
