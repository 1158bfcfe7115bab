/* SPDX-License-Identifier: MIT */
/* carom_bench: what carom costs, side by side with what it is measured against, and whether that is as asked.
 *
 * Rivals are timed in turns, several rounds, so that noise hits all of them; ratios are medians of the rounds' ratios.
 * Absolute times are those of the machine as it was: close other programs before believing them. */
#include "bench.h"

#include <errno.h>
#include <getopt.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct options {
    int quick;
    uint32_t threads; /* 0: all that the process may use */
    const char *json, *only;
} options;

typedef struct section {
    const char *name;
    void (*run)(bench *b);
} section;

static const section sections[] = {
    {"cache", bench_pairs_cache}, {"memory", bench_pairs_memory}, {"ericson", bench_overlap},
    {"devices", bench_devices},   {"mesh", bench_mesh},
};
enum { SECTION_COUNT = sizeof sections / sizeof sections[0] };

static const char usage[] =
    "usage: carom_bench [--quick] [--threads N] [--only SECTION[,SECTION...]] [--json FILE]\n\n"
    "Sections: cache, memory, ericson, devices, mesh (default: all).\n"
    "--threads N   threads of the sections that use more than one (default: all that the process may use)\n"
    "--quick       fewer rounds and smaller batches: a minute or two instead of ten\n"
    "--json FILE   the same figures for programs\n"
    "Exit status: 0 done, whether or not a requirement was met; 1 answers differed or something failed; 2 bad usage.\n";

_Noreturn void bench_die(const char *format, ...)
{
    va_list list;

    fflush(stdout);
    fprintf(stderr, "carom_bench: ");
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fprintf(stderr, "\n");
    exit(1);
}

uint64_t bench_hash(uint64_t hash, const void *memory, size_t size)
{
    const unsigned char *from = memory;

    for (size_t i = 0; i < size; i += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, from + i, size - i < sizeof word ? size - i : sizeof word);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static int is_chosen(const char *only, const char *name)
{
    const size_t length = strlen(name);

    for (const char *at = only; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (!strncmp(at, name, length) && (at[length] == '\0' || at[length] == ','))
            return 1;
    }
    return only == NULL;
}

/* Every word of `only` must be a section. */
static int is_known(const char *only)
{
    size_t words = 1, known = 0;

    for (const char *c = only; *c; c++)
        words += *c == ',';
    for (size_t i = 0; i < SECTION_COUNT; i++)
        known += (size_t)is_chosen(only, sections[i].name);
    return words == known;
}

static int parse(int argc, char **argv, options *o)
{
    static const struct option table[] = {
        {"quick", no_argument, NULL, 'q'},      {"threads", required_argument, NULL, 't'},
        {"json", required_argument, NULL, 'j'}, {"only", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},       {0},
    };
    char *end;
    int c;

    while ((c = getopt_long(argc, argv, "", table, NULL)) != -1) {
        if (c == 'h') {
            fputs(usage, stdout);
            exit(0);
        } else if (c == 'q') {
            o->quick = 1;
        } else if (c == 'j') {
            o->json = optarg;
        } else if (c == 'o') {
            o->only = optarg;
        } else if (c == 't') {
            errno = 0;
            const unsigned long n = strtoul(optarg, &end, 10);
            if (*optarg < '1' || *optarg > '9' || *end || errno || n > 4096)
                return 0;
            o->threads = (uint32_t)n;
        } else {
            return 0;
        }
    }
    return optind == argc && (!o->only || is_known(o->only));
}

static void describe_cpu(report *r)
{
    char line[256], name[256] = "unknown";
    FILE *from = fopen("/proc/cpuinfo", "r");

    while (from && fgets(line, sizeof line, from)) {
        const char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) || !value)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
        break;
    }
    if (from)
        fclose(from);
    report_fact(r, "cpu", "%s", name);
}

static uint32_t usable_threads(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

/* Bytes of the last-level cache; 0 if the system does not say. */
static double last_cache(void)
{
#if defined(_SC_LEVEL3_CACHE_SIZE)
    const long size = sysconf(_SC_LEVEL3_CACHE_SIZE);
    return size > 0 ? (double)size : 0.0;
#else
    return 0.0;
#endif
}

static void describe(bench *b)
{
    double load[1];

    describe_cpu(b->report);
    report_fact(b->report, "last cache", "%.1f MiB", b->last_cache * 0x1p-20);
    report_fact(b->report, "compiler", "%s", CAROM_BENCH_COMPILER);
    report_fact(b->report, "flags", "%s", CAROM_BENCH_FLAGS);
    report_fact(b->report, "carom", "%s", carom_version());
    report_fact(b->report, "threads", "%u of %u usable, where not one", b->threads, usable_threads());
    if (getloadavg(load, 1) == 1)
        report_fact(b->report, "load", "%.2f at the start: above 0.3 the times are not to be believed", load[0]);
    report_fact(b->report, "run", "%s, %d rounds", b->quick ? "quick" : "full", b->one.rounds);
}

static void run_sections(bench *b, const char *only)
{
    int opened = 0;

    for (size_t i = 0; i < SECTION_COUNT; i++) {
        if (!is_chosen(only, sections[i].name))
            continue;
        if (!opened && (sections[i].run == bench_devices || sections[i].run == bench_mesh)) {
            printf("\n");
            bench_open_devices(b);
            opened = 1;
        }
        sections[i].run(b);
    }
}

int main(int argc, char **argv)
{
    options o = {0};

    if (!parse(argc, argv, &o)) {
        fputs(usage, stderr);
        return 2;
    }
    bench b = {
        .report = report_create(),
        .quick = o.quick,
        .threads = o.threads ? o.threads : usable_threads(),
        .one = {o.quick ? 5 : 15, o.quick ? 0.004 : 0.02, 0.0},
        /* Idle OpenMP threads spin for some 20 ms before they sleep, on cores that the rival needs. */
        .many = {o.quick ? 5 : 15, o.quick ? 0.02 : 0.05, 0.03},
        .sizes = {1000000, 4000000},
        .size_count = o.quick ? 1 : BENCH_SIZES_MAX,
        .last_cache = last_cache(),
    };
    describe(&b);
    bench_open_cpu(&b);
    run_sections(&b, o.only);
    int ok = report_finish(b.report);
    if (o.json && !report_write_json(b.report, o.json)) {
        fprintf(stderr, "carom_bench: %s: cannot be written: %s\n", o.json, strerror(errno));
        ok = 0;
    }
    bench_close(&b);
    report_destroy(b.report);
    return ok ? 0 : 1;
}
