/* SPDX-License-Identifier: MIT */
#include "counters.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#endif

#define POWERCAP "/sys/class/powercap"

enum { PACKAGES_MAX = 16, DEVICES_MAX = 16 };

typedef struct package {
    int fd;
    double range; /* microjoules at which the counter starts again; 0: not known */
    double last, wraps;
} package;

typedef int nvml_energy_fn(void *device, unsigned long long *millijoules);

/* One run of the bench measures in a process, so its counters are the process's. */
static struct {
    int instructions; /* -1: none */
    int is_shared;    /* others had that counter meanwhile */
    package packages[PACKAGES_MAX];
    int package_count;
    void *nvml;
    nvml_energy_fn *energy;
    void *devices[DEVICES_MAX];
    int device_count;
} open_counters = {.instructions = -1};

/* ---- instructions ------------------------------------------------------------------------------------------------ */

#ifdef __linux__
static void open_instructions(char reason[COUNTERS_REASON])
{
    struct perf_event_attr attr = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof attr,
        .config = PERF_COUNT_HW_INSTRUCTIONS,
        .read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING,
        .inherit = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };

    open_counters.instructions = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (open_counters.instructions >= 0)
        return;
    const int why = errno;
    snprintf(reason, COUNTERS_REASON, "perf_event_open: %s%s", strerror(why),
             why == EACCES || why == EPERM
                 ? "; /proc/sys/kernel/perf_event_paranoid above 2, or a container, forbids it"
             : why == ENOENT || why == EOPNOTSUPP ? "; this machine, often a virtual one, has no such counter"
                                                  : "");
}
#else
static void open_instructions(char reason[COUNTERS_REASON])
{
    snprintf(reason, COUNTERS_REASON, "perf events are Linux's");
}
#endif

static double read_instructions(void)
{
    unsigned long long value[3]; /* count, time enabled, time running */

    if (open_counters.instructions < 0 || read(open_counters.instructions, value, sizeof value) != sizeof value)
        return (double)NAN;
    open_counters.is_shared |= value[1] != value[2];
    return value[1] == value[2] ? (double)value[0] : (double)NAN;
}

/* ---- RAPL -------------------------------------------------------------------------------------------------------- */

static double number_at(int fd)
{
    char text[64];
    const ssize_t length = pread(fd, text, sizeof text - 1, 0);

    if (length <= 0)
        return (double)NAN;
    text[length] = '\0';
    char *end;
    const double value = strtod(text, &end);
    return end > text && (*end == '\n' || *end == '\0') && value >= 0.0 ? value : (double)NAN;
}

static int open_in(const char *zone, const char *file)
{
    char path[512];

    snprintf(path, sizeof path, POWERCAP "/%s/%s", zone, file);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* Zones of packages are `intel-rapl:0`, those within them `intel-rapl:0:0`. AMD's processors have the same names. A
 * memory-mapped twin of a package, `intel-rapl-mmio:0`, would count it twice, and so would `psys`, the whole system,
 * whose zone looks like a package's but for its name. */
static int is_package(const char *zone)
{
    static const char begin[] = "package";
    char name[sizeof begin] = "";

    if (strncmp(zone, "intel-rapl:", 11) != 0 || strchr(zone + 11, ':') != NULL)
        return 0;
    const int fd = open_in(zone, "name");
    const ssize_t got = fd >= 0 ? read(fd, name, sizeof begin - 1) : 0;
    if (fd >= 0)
        close(fd);
    return got == (ssize_t)sizeof begin - 1 && !strcmp(name, begin);
}

static void open_package(const char *zone, char reason[COUNTERS_REASON])
{
    const int fd = open_in(zone, "energy_uj");

    if (fd < 0) {
        snprintf(reason, COUNTERS_REASON, POWERCAP "/%.64s/energy_uj: %s", zone, strerror(errno));
        return;
    }
    package *p = &open_counters.packages[open_counters.package_count++];
    *p = (package){.fd = fd, .last = number_at(fd)};
    if (isnan(p->last)) {
        snprintf(reason, COUNTERS_REASON, POWERCAP "/%.64s/energy_uj: no number", zone);
        return;
    }
    const int range = open_in(zone, "max_energy_range_uj");
    if (range >= 0) {
        p->range = number_at(range);
        close(range);
    }
}

static void close_packages(void)
{
    for (int i = 0; i < open_counters.package_count; i++)
        close(open_counters.packages[i].fd);
    open_counters.package_count = 0;
}

/* All packages or none: the energy of some would look like that of all. */
static void open_packages(char reason[COUNTERS_REASON])
{
    DIR *zones = opendir(POWERCAP);
    const struct dirent *zone;

    if (zones == NULL) {
        snprintf(reason, COUNTERS_REASON, POWERCAP ": %s", strerror(errno));
        return;
    }
    while ((zone = readdir(zones)) != NULL && reason[0] == '\0') {
        if (!is_package(zone->d_name))
            continue;
        if (open_counters.package_count == PACKAGES_MAX)
            snprintf(reason, COUNTERS_REASON, "more than %d packages", PACKAGES_MAX);
        else
            open_package(zone->d_name, reason);
    }
    closedir(zones);
    if (reason[0] != '\0')
        close_packages();
    else if (open_counters.package_count == 0)
        snprintf(reason, COUNTERS_REASON, POWERCAP " has no zone of RAPL whose name begins with package");
}

static double read_packages(void)
{
    double sum = 0.0;

    for (int i = 0; i < open_counters.package_count; i++) {
        package *p = &open_counters.packages[i];
        const double at = number_at(p->fd);
        p->wraps += at < p->last ? p->range : 0.0;
        p->last = at;
        sum += 1e-6 * (at + p->wraps);
    }
    return open_counters.package_count > 0 ? sum : (double)NAN;
}

/* ---- NVML -------------------------------------------------------------------------------------------------------- */

/* The driver's own library, if it is there: no build depends on it. A pointer to a function comes out of one to an
 * object, as POSIX has it. */
static int find(const char *name, void *function)
{
    void *symbol = dlsym(open_counters.nvml, name);

    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

static void open_devices(char reason[COUNTERS_REASON])
{
    int (*start)(void), (*count)(unsigned *), (*handle)(unsigned, void **);
    unsigned devices = 0;
    unsigned long long used;

    open_counters.nvml = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (open_counters.nvml == NULL) {
        snprintf(reason, COUNTERS_REASON, "no NVML: libnvidia-ml.so.1 is not there");
        return;
    }
    if (!find("nvmlInit_v2", &start) || !find("nvmlDeviceGetCount_v2", &count) ||
        !find("nvmlDeviceGetHandleByIndex_v2", &handle) ||
        !find("nvmlDeviceGetTotalEnergyConsumption", &open_counters.energy)) {
        snprintf(reason, COUNTERS_REASON, "NVML is too old to tell energies");
        return;
    }
    const int status = start();
    if (status != 0 || count(&devices) != 0 || devices == 0 || devices > DEVICES_MAX) {
        snprintf(reason, COUNTERS_REASON, "NVML: status %d, %u devices (of 1 to %d)", status, devices, DEVICES_MAX);
        return;
    }
    for (unsigned i = 0; i < devices; i++) {
        const int refused = handle(i, &open_counters.devices[i]);
        if (refused != 0 || open_counters.energy(open_counters.devices[i], &used) != 0) {
            snprintf(reason, COUNTERS_REASON, "NVML does not tell the energy of device %u", i);
            return;
        }
    }
    open_counters.device_count = (int)devices;
}

static double read_devices(void)
{
    double sum = 0.0;
    unsigned long long millijoules;

    for (int i = 0; i < open_counters.device_count; i++) {
        if (open_counters.energy(open_counters.devices[i], &millijoules) != 0)
            return (double)NAN;
        sum += 1e-3 * (double)millijoules;
    }
    return open_counters.device_count > 0 ? sum : (double)NAN;
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

void counters_open(counters_reasons *out)
{
    *out = (counters_reasons){"", "", ""};
    open_instructions(out->instructions);
    open_packages(out->package);
    open_devices(out->device);
}

int counters_were_shared(void)
{
    return open_counters.is_shared;
}

counters_values counters_read(void)
{
    return (counters_values){read_instructions(), read_packages(), read_devices()};
}

counters_values counters_between(const counters_values *before, double scale)
{
    const counters_values after = counters_read();

    return (counters_values){(after.instructions - before->instructions) * scale,
                             (after.package_joules - before->package_joules) * scale,
                             (after.device_joules - before->device_joules) * scale};
}

/* NVML stays loaded: drivers of OpenCL may use it, too. */
void counters_close(void)
{
    if (open_counters.instructions >= 0)
        close(open_counters.instructions);
    open_counters.instructions = -1;
    open_counters.device_count = 0;
    close_packages();
}
