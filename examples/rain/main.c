/* SPDX-License-Identifier: MIT */
/* rain: spheres fall through a vessel, bounce off its walls and off each other. docs/particles.md explains it. */
#include "rain.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

typedef struct options {
    carom_backend backend;
    int is_backend_given;
    carom_isa isa;
    const char *device, *frames; /* device: as it was given; NULL: not */
    uint64_t particles, steps, triangles, every, seed, sample, threads;
    uint64_t plant; /* 0: none */
    int exact;
} options;

static const char usage[] =
    "usage: rain [OPTION...]\n"
    "Spheres fall through a closed vessel. Each frame a checker tests the side of every sphere, exactly.\n"
    "  --particles N    spheres (1000000)\n"
    "  --triangles N    of the vessel, about (250000)\n"
    "  --steps N        (1000)\n"
    "  --every N        steps from frame to frame (100)\n"
    "  --frames DIR     write each frame there: rain-NUMBER.vtu, .png, and vessel.vtu\n"
    "  --seed N         of the spheres (1)\n"
    "  --exact          carom's exact mode\n"
    "  --device D       cpu; auto, which takes a device if it pays; or OpenCL devices by number or part of a name,\n"
    "                   several separated by commas (auto)\n"
    "  --backend B      cpu, opencl or auto (opencl with a device by number or name, else auto)\n"
    "  --isa I          of the CPU: scalar, sse4.1, avx2, avx512 or neon (the best)\n"
    "  --threads N      0: all (0)\n"
    "  --sample N       spheres whose distance from the mesh the checker measures in each frame (8)\n"
    "  --plant STEP     put sphere 0 behind the wall at the end of this step: the checker must see it\n"
    "Exit status: 0 done; 1 failure; 2 usage; 3 a sphere is outside.\n";

/* ---- small things ------------------------------------------------------------------------------------------------ */

static double read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

double rain_seconds(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

double rain_cpu_seconds(void)
{
    return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

int rain_fail(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("rain: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    return 0;
}

void *rain_alloc(uint64_t count, size_t size)
{
    void *memory = calloc(count ? count : 1, size);
    if (!memory)
        rain_fail("no memory for %llu elements of %zu bytes", (unsigned long long)count, size);
    return memory;
}

/* FNV-1a over the bits of all centres: equal if and, but for chance, only if the runs are. */
static uint64_t hash_centers(const rain_spheres *s)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint64_t i = 0; i < 3 * s->count; i++) {
        uint32_t bits;
        memcpy(&bits, s->center + i, sizeof bits);
        hash = (hash ^ bits) * UINT64_C(0x100000001b3);
    }
    return hash;
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

typedef struct run {
    options o;
    rain_mesh mesh;
    rain_spheres spheres;
    rain_world world;
    rain_stepper *stepper;
    rain_checker *checker;
    uint64_t outside; /* spheres, over all frames */
    uint64_t frames;
    double start, check_time, frame_time, last_progress;
} run;

static int names_device(const options *o)
{
    return o->device && strcmp(o->device, "cpu") != 0 && strcmp(o->device, "auto") != 0;
}

static int open_world(run *r)
{
    carom_context_desc desc = carom_context_desc_default();
    carom_error err;
    desc.backend = r->o.backend;
    desc.device = names_device(&r->o) ? r->o.device : NULL;
    desc.isa = r->o.isa;
    desc.threads = (uint32_t)r->o.threads;
    if (carom_context_create(&desc, &r->world.context, &err) != CAROM_OK)
        return desc.device ? rain_fail("--device %s: %s", desc.device, err.message) : rain_fail("%s", err.message);
    const carom_mesh_desc shape = {
        .size = sizeof shape,
        .vertices = carom_xyz(r->mesh.vertex),
        .vertex_count = r->mesh.vertex_count,
        .indices = carom_uints_of(r->mesh.index),
        .triangle_count = r->mesh.triangle_count,
    };
    if (carom_mesh_create(r->world.context, &shape, &r->world.mesh, &err) != CAROM_OK)
        return rain_fail("%s", err.message);
    r->world.accuracy = r->o.exact ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
    memcpy(r->world.lower, r->mesh.lower, sizeof r->world.lower);
    memcpy(r->world.upper, r->mesh.upper, sizeof r->world.upper);
    return 1;
}

static int set_up(run *r)
{
    if (!rain_make_vessel(&r->mesh, r->o.triangles) ||
        !rain_make_spheres(&r->spheres, r->o.particles, r->o.seed, &r->world.largest) || !open_world(r))
        return 0;
    r->world.gravity = 1.0f;
    r->world.restitution = 0.6f;
    r->world.tolerance = 0x1p-19f; /* 16 units in the last place of the largest coordinate, which is below 2 */
    r->world.step = 0.15f * r->world.largest; /* at a speed of 2, after a fall through all, 0.3 radii */
    r->stepper = rain_stepper_create(&r->world, &r->spheres);
    r->checker = rain_checker_create(&r->mesh);
    return r->stepper && r->checker;
}

static void tear_down(run *r)
{
    rain_stepper_destroy(r->stepper);
    rain_checker_destroy(r->checker);
    carom_mesh_destroy(r->world.mesh);
    carom_context_destroy(r->world.context);
    rain_free_mesh(&r->mesh);
    rain_free_spheres(&r->spheres);
}

static uint64_t count_awake(const rain_spheres *s)
{
    uint64_t awake = 0;
    for (uint64_t i = 0; i < s->count; i++)
        awake += s->quiet[i] < RAIN_ASLEEP;
    return awake;
}

/* The checker's count, the frame's files, and a line. */
static int make_frame(run *r, uint64_t step)
{
    const double start = rain_seconds();
    const rain_verdict verdict = rain_check(r->checker, &r->spheres, r->o.sample);
    const double checked = rain_seconds();
    r->check_time += checked - start;
    r->outside += verdict.outside;
    if (isatty(STDERR_FILENO))
        fputs("\r\033[K", stderr);
    printf("step %6llu  outside %llu  deepest of %llu in the mesh %.1e radii  awake %5.1f %%  hash %016llx\n",
           (unsigned long long)step, (unsigned long long)verdict.outside, (unsigned long long)verdict.sampled,
           verdict.deepest, 100.0 * (double)count_awake(&r->spheres) / (double)r->spheres.count,
           (unsigned long long)hash_centers(&r->spheres));
    fflush(stdout);
    if (verdict.outside > 0)
        rain_fail("step %llu: %llu spheres are not inside of the mesh, the first is %llu", (unsigned long long)step,
                  (unsigned long long)verdict.outside, (unsigned long long)verdict.first);
    const uint64_t number = r->frames++;
    const int ok = !r->o.frames || (rain_write_vtu(r->o.frames, number, &r->spheres) &&
                                    (!rain_have_png() || rain_write_png(r->o.frames, number, &r->world, &r->spheres)));
    r->frame_time += rain_seconds() - checked;
    return ok;
}

static double stepping(const run *r)
{
    const rain_times *t = rain_stepper_times(r->stepper);
    return t->mesh + t->cloud + t->own;
}

static void show_progress(run *r, uint64_t step)
{
    const double now = rain_seconds(), passed = now - r->start;
    if (!isatty(STDERR_FILENO) || now - r->last_progress < 0.5 || step == 0)
        return;
    r->last_progress = now;
    fprintf(stderr, "\rstep %llu of %llu: %.3g particle-steps/s, %.0f s left \033[K", (unsigned long long)step,
            (unsigned long long)r->o.steps, (double)(step * r->spheres.count) / stepping(r),
            passed / (double)step * (double)(r->o.steps - step));
}

static void show_part(const char *what, double seconds, double all, double particle_steps)
{
    printf("  %-34s %9.2f s %6.1f %% %9.1f ns\n", what, seconds, 100.0 * seconds / all, 1e9 * seconds / particle_steps);
}

static void report(const run *r)
{
    const rain_times *t = rain_stepper_times(r->stepper);
    const rain_counts *c = rain_stepper_counts(r->stepper);
    const double done = (double)(r->o.steps * r->spheres.count), all = stepping(r);
    carom_device_info device = {.size = sizeof device};
    (void)carom_context_get_device(r->world.context, &device, NULL); /* without one it has no name */
    printf(
        "\n%.4g particle-steps in %.2f s on %u threads: %.4g per second, %.4g per CPU second, %.1f %% of them awake\n",
        done, all, carom_context_threads(r->world.context), done / all, done / t->cpu, 100.0 * (double)c->awake / done);
    show_part("mesh: carom_mesh_sweep_first", t->mesh, all, done);
    show_part("spheres: carom_cloud_list", t->cloud, all, done);
    show_part("own: motion, impulses", t->own, all, done);
    printf("of each particle-step: %.3f motions, %.3f in clouds, %.3f pairs listed, %.3f hits with the mesh, "
           "%.3f with spheres, %.3f waited\n",
           (double)c->motions / done, (double)c->asked / done, (double)c->pairs / done, (double)c->wall_hits / done,
           (double)c->sphere_hits / done, (double)c->waited / done);
    printf("answers: %llu on devices%s%s, %llu on the CPU\n", (unsigned long long)c->on_device,
           device.name[0] ? " from " : "", device.name, (unsigned long long)c->on_cpu);
    if (c->fallen_back > 0)
        printf("%llu answers fell back from a device to the CPU\n", (unsigned long long)c->fallen_back);
    printf("beside it: checker %.2f s, frames %.2f s\n", r->check_time, r->frame_time);
    printf("outside, over %llu frames: %llu\n", (unsigned long long)r->frames, (unsigned long long)r->outside);
    printf("hash of all centres after %llu steps: %016llx\n", (unsigned long long)r->o.steps,
           (unsigned long long)hash_centers(&r->spheres));
}

static int simulate(run *r)
{
    printf("%llu spheres of radius %.4g to %.4g, %llu triangles, steps of %.4g\n", (unsigned long long)r->spheres.count,
           (double)(0.5f * r->world.largest), (double)r->world.largest, (unsigned long long)r->mesh.triangle_count,
           (double)r->world.step);
    if (r->o.frames && !rain_have_png())
        printf("built without libpng (Debian: libpng-dev): no pictures\n");
    int ok = (!r->o.frames || rain_write_mesh(r->o.frames, &r->mesh)) && make_frame(r, 0);
    r->start = rain_seconds();
    for (uint64_t step = 1; ok && step <= r->o.steps; step++) {
        ok = rain_step(r->stepper, step);
        if (ok && step == r->o.plant)
            r->spheres.center[0] = r->mesh.upper[0] + r->world.largest;
        if (ok && (step % r->o.every == 0 || step == r->o.steps))
            ok = make_frame(r, step);
        show_progress(r, step);
    }
    if (ok)
        report(r);
    return ok;
}

/* ---- command line ------------------------------------------------------------------------------------------------ */

static int parse_number(const char *option, const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    char *end;
    errno = 0;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || value < low || value > high)
        return rain_fail("--%s %s: not a number from %llu to %llu", option, text, (unsigned long long)low,
                         (unsigned long long)high);
    *out = value;
    return 1;
}

static int parse_backend(const char *text, carom_backend *out)
{
    static const carom_backend all[] = {CAROM_BACKEND_AUTO, CAROM_BACKEND_CPU, CAROM_BACKEND_OPENCL};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(text, carom_backend_name(all[i])) == 0) {
            *out = all[i];
            return 1;
        }
    }
    return rain_fail("--backend %s: not cpu, opencl or auto", text);
}

static int parse_isa(const char *text, carom_isa *out)
{
    static const carom_isa all[] = {CAROM_ISA_SCALAR, CAROM_ISA_SSE41, CAROM_ISA_AVX2, CAROM_ISA_AVX512,
                                    CAROM_ISA_NEON};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (strcmp(text, carom_isa_name(all[i])) == 0) {
            *out = all[i];
            return carom_isa_available(all[i]) || rain_fail("--isa %s: not on this machine", text);
        }
    }
    return rain_fail("--isa %s: not scalar, sse4.1, avx2, avx512 or neon", text);
}

static int parse_option(const char *name, const char *value, options *o)
{
    const struct {
        const char *name;
        uint64_t low, high, *to;
    } numbers[] = {{"particles", 1, 100000000, &o->particles}, {"triangles", 1000, 20000000, &o->triangles},
                   {"steps", 1, 1000000000, &o->steps},        {"every", 1, UINT64_MAX, &o->every},
                   {"seed", 0, UINT64_MAX, &o->seed},          {"threads", 0, 1024, &o->threads},
                   {"sample", 0, UINT64_MAX, &o->sample},      {"plant", 1, UINT64_MAX, &o->plant}};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strcmp(name, numbers[i].name) == 0)
            return parse_number(name, value, numbers[i].low, numbers[i].high, numbers[i].to);
    if (strcmp(name, "backend") == 0) {
        o->is_backend_given = 1;
        return parse_backend(value, &o->backend);
    }
    if (strcmp(name, "isa") == 0)
        return parse_isa(value, &o->isa);
    *(strcmp(name, "device") == 0 ? &o->device : &o->frames) = value;
    return 1;
}

/* A device by number or name is the one that answers, unless --backend auto may take the CPU in its place. */
static int settle_backend(options *o)
{
    const carom_backend wanted = names_device(o)                 ? CAROM_BACKEND_OPENCL
                                 : strcmp(o->device, "cpu") == 0 ? CAROM_BACKEND_CPU
                                                                 : CAROM_BACKEND_AUTO;
    if (!o->is_backend_given)
        o->backend = wanted;
    if (o->backend == wanted || (names_device(o) && o->backend == CAROM_BACKEND_AUTO))
        return 1;
    if (names_device(o))
        return rain_fail("--device names an OpenCL device, and --backend cpu uses none");
    return rain_fail("--device %s and --backend %s: they name different backends", o->device,
                     carom_backend_name(o->backend));
}

static int parse(int argc, char **argv, options *o)
{
    enum { VALUE = 1, EXACT, HELP };
    static const struct option table[] = {
        {"particles", 1, NULL, VALUE}, {"triangles", 1, NULL, VALUE}, {"steps", 1, NULL, VALUE},
        {"every", 1, NULL, VALUE},     {"frames", 1, NULL, VALUE},    {"seed", 1, NULL, VALUE},
        {"exact", 0, NULL, EXACT},     {"backend", 1, NULL, VALUE},   {"device", 1, NULL, VALUE},
        {"isa", 1, NULL, VALUE},       {"threads", 1, NULL, VALUE},   {"sample", 1, NULL, VALUE},
        {"plant", 1, NULL, VALUE},     {"help", 0, NULL, HELP},       {NULL, 0, NULL, 0},
    };
    int ok = 1, c, at = 0;
    *o = (options){.particles = 1000000, .steps = 1000, .triangles = 250000, .every = 100, .seed = 1, .sample = 8};
    while (ok && (c = getopt_long(argc, argv, "", table, &at)) != -1) {
        if (c == HELP) {
            fputs(usage, stdout);
            exit(0);
        }
        o->exact |= c == EXACT;
        ok = c == EXACT || (c == VALUE && parse_option(table[at].name, optarg, o));
    }
    if (ok && optind < argc)
        ok = rain_fail("%s: not an option", argv[optind]);
    if (ok && o->device)
        ok = settle_backend(o);
    if (ok && o->plant > o->steps)
        ok = rain_fail("--plant %llu: there are only %llu steps", (unsigned long long)o->plant,
                       (unsigned long long)o->steps);
    if (ok && o->frames && mkdir(o->frames, 0777) != 0 && errno != EEXIST)
        ok = rain_fail("%s: %s", o->frames, strerror(errno));
    if (!ok)
        fputs("rain: --help shows the options\n", stderr);
    return ok;
}

int main(int argc, char **argv)
{
    static run r;
    if (!parse(argc, argv, &r.o))
        return 2;
    int ok = set_up(&r) && simulate(&r);
    tear_down(&r);
    if (fflush(stdout) != 0 || ferror(stdout))
        ok = rain_fail("standard output: cannot be written");
    return !ok ? 1 : r.outside > 0 ? 3 : 0;
}
