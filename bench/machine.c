/* SPDX-License-Identifier: MIT */
#include "machine.h"

#include "counters.h"
#include "measure.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define CPUS "/sys/devices/system/cpu"

static const struct {
    const char *name, *words, *unit;
    int is_number;
} known[MACHINE_KEYS] = {
#define X(key, words, unit, is_number) {#key, words, unit, is_number},
    MACHINE_FACTS(X)
#undef X
};

const char *machine_name(machine_key key)
{
    return known[key].name;
}

const char *machine_words(machine_key key)
{
    return known[key].words;
}

const char *machine_unit(machine_key key)
{
    return known[key].unit;
}

int machine_is_number(machine_key key)
{
    return known[key].is_number;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* A longer text ends in dots. */
static void print(char *out, size_t size, const char *format, va_list list)
{
    if (vsnprintf(out, size, format, list) >= (int)size)
        memcpy(out + size - 4, "...", 4);
}

__attribute__((format(printf, 3, 4))) static void set(machine *m, machine_key key, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    print(m->facts[key].value, sizeof m->facts[key].value, format, list);
    va_end(list);
    m->facts[key].reason[0] = '\0';
}

__attribute__((format(printf, 3, 4))) static void lack(machine *m, machine_key key, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    print(m->facts[key].reason, sizeof m->facts[key].reason, format, list);
    va_end(list);
    m->facts[key].value[0] = '\0';
}

/* The first line of a file without its end. Returns 0 if there is none; errno says why. */
static int first_line(const char *path, char *out, size_t size)
{
    FILE *from = fopen(path, "re");

    errno = from == NULL ? errno : ENODATA;
    const int got = from != NULL && fgets(out, (int)size, from) != NULL && out[0] != '\n';
    if (from != NULL)
        fclose(from);
    if (got)
        out[strcspn(out, "\n")] = '\0';
    return got;
}

/* The value behind `key` and a colon, in a file of such lines. */
static int line_of(const char *path, const char *key, char *out, size_t size)
{
    char line[1024];
    FILE *from = fopen(path, "re");
    int got = 0;

    errno = from == NULL ? errno : ENODATA;
    while (from != NULL && !got && fgets(line, sizeof line, from) != NULL) {
        const char *value = strchr(line, ':');
        if (value == NULL || strncmp(line, key, strlen(key)) != 0)
            continue;
        value += 1 + strspn(value + 1, " \t");
        snprintf(out, size, "%.*s", (int)strcspn(value, "\n"), value);
        got = 1;
    }
    if (from != NULL)
        fclose(from);
    return got;
}

static void take_line(machine *m, machine_key key, const char *path)
{
    char line[256];

    if (first_line(path, line, sizeof line))
        set(m, key, "%s", line);
    else
        lack(m, key, "%s: %s", path, strerror(errno));
}

/* ---- facts ------------------------------------------------------------------------------------------------------- */

static void find_kernel(machine *m)
{
    struct utsname name;

    if (uname(&name) == 0)
        set(m, MACHINE_kernel, "%.20s %.60s", name.sysname, name.release);
    else
        lack(m, MACHINE_kernel, "uname: %s", strerror(errno));
}

/* Of all processors that have one; different ones are listed. */
static void find_governor(machine *m)
{
    const long processors = sysconf(_SC_NPROCESSORS_CONF);
    char path[128], line[32], all[96] = "";

    for (long i = 0; i < processors; i++) {
        snprintf(path, sizeof path, CPUS "/cpu%ld/cpufreq/scaling_governor", i);
        if (!first_line(path, line, sizeof line) || strstr(all, line) != NULL)
            continue;
        const size_t used = strlen(all);
        snprintf(all + used, sizeof all - used, "%s%s", used > 0 ? ", " : "", line);
    }
    if (all[0] != '\0')
        set(m, MACHINE_governor, "%s", all);
    else
        lack(m, MACHINE_governor, CPUS "/cpu0/cpufreq/scaling_governor: not there; often so in a virtual machine");
}

static void find_turbo(machine *m)
{
    char line[16];

    if (first_line(CPUS "/intel_pstate/no_turbo", line, sizeof line))
        set(m, MACHINE_turbo, "%s", line[0] == '0' ? "on" : "off");
    else if (first_line(CPUS "/cpufreq/boost", line, sizeof line))
        set(m, MACHINE_turbo, "%s", line[0] == '1' ? "on" : "off");
    else
        lack(m, MACHINE_turbo, "neither intel_pstate/no_turbo nor cpufreq/boost in " CPUS);
}

static void find_virtual(machine *m)
{
    char flags[8192];
    FILE *from = fopen("/proc/cpuinfo", "re");
    int found = 0, is = 0;

    while (from != NULL && !found && fgets(flags, sizeof flags, from) != NULL) {
        found = !strncmp(flags, "flags", 5);
        is = found && strstr(flags, " hypervisor") != NULL;
    }
    if (from != NULL)
        fclose(from);
    if (found)
        set(m, MACHINE_virtual_machine, "%s", is ? "yes" : "no");
    else
        lack(m, MACHINE_virtual_machine, "/proc/cpuinfo has no flags");
}

/* A list of numbers and ranges, such as 0-1,3. */
static void find_nodes(machine *m)
{
    static const char path[] = "/sys/devices/system/node/online";
    char line[256];
    int nodes = 0;

    if (!first_line(path, line, sizeof line)) {
        lack(m, MACHINE_numa_nodes, "%s: %s", path, strerror(errno));
        return;
    }
    for (char *at = line; *at != '\0'; at += *at == ',') {
        const long first = strtol(at, &at, 10), last = *at == '-' ? strtol(at + 1, &at, 10) : first;
        if (last < first || (*at != ',' && *at != '\0')) {
            lack(m, MACHINE_numa_nodes, "%s: '%.64s' is no list", path, line);
            return;
        }
        nodes += (int)(last - first + 1);
    }
    set(m, MACHINE_numa_nodes, "%d", nodes);
}

static void find_memory(machine *m)
{
    char line[64];

    if (line_of("/proc/meminfo", "MemTotal", line, sizeof line))
        set(m, MACHINE_memory, "%.0f", strtod(line, NULL) * 1024e-6);
    else
        lack(m, MACHINE_memory, "/proc/meminfo: %s", strerror(errno));
}

/* SMBIOS, structure 17: the speed that a module runs at is the word at byte 0x20, the greatest that it can at 0x15. */
static void find_memory_speed(machine *m)
{
    char path[96];
    unsigned char raw[0x22];
    unsigned speed = 0;

    for (int i = 0; i < 64 && speed == 0; i++) {
        snprintf(path, sizeof path, "/sys/firmware/dmi/entries/17-%d/raw", i);
        const int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) {
            lack(m, MACHINE_memory_speed, "%s: %s", path, strerror(errno));
            return;
        }
        const ssize_t size = read(fd, raw, sizeof raw);
        close(fd);
        if (size >= 0x17)
            speed = raw[0x15] | (unsigned)raw[0x16] << 8;
        if (size >= 0x22 && (raw[0x20] | raw[0x21]) != 0)
            speed = raw[0x20] | (unsigned)raw[0x21] << 8;
    }
    if (speed > 0 && speed < 0xffff)
        set(m, MACHINE_memory_speed, "%u", speed);
    else
        lack(m, MACHINE_memory_speed, "the system's tables name none");
}

static void find_smt(machine *m)
{
    take_line(m, MACHINE_smt, CPUS "/smt/control");
}

static void find_line(machine *m, machine_key key, const char *path, const char *name)
{
    char line[1024];

    if (line_of(path, name, line, sizeof line))
        set(m, key, "%s", line);
    else
        lack(m, key, "%s has no line '%s'", path, name);
}

/* A whole line that is a number; NAN: it is none. */
static double number_in(const char *line)
{
    char *end;
    const double value = strtod(line, &end);

    return end > line && *end == '\0' && isfinite(value) ? value : (double)NAN;
}

/* The hottest sensor of a processor; thousandths of a degree in both places. */
static double hottest_in(const char *folder, const char *name_file, const char *const *names, const char *value_file)
{
    char path[512], line[64];
    double hottest = (double)NAN;
    DIR *list = opendir(folder);
    const struct dirent *entry;

    while (list != NULL && (entry = readdir(list)) != NULL) {
        snprintf(path, sizeof path, "%s/%.128s/%s", folder, entry->d_name, name_file);
        if (entry->d_name[0] == '.' || !first_line(path, line, sizeof line))
            continue;
        int is_processor = 0;
        for (int i = 0; names[i] != NULL; i++)
            is_processor |= !strcmp(line, names[i]);
        snprintf(path, sizeof path, "%s/%.128s/%s", folder, entry->d_name, value_file);
        if (is_processor && first_line(path, line, sizeof line))
            hottest = fmax(hottest, 1e-3 * number_in(line)); /* fmax leaves out NaN */
    }
    if (list != NULL)
        closedir(list);
    return hottest;
}

static void find_temperature(machine *m, machine_key key)
{
    static const char *const chips[] = {"coretemp", "k10temp", "zenpower", "cpu_thermal", NULL};
    static const char *const zones[] = {"x86_pkg_temp", "cpu-thermal", "cpu_thermal", "soc_thermal", NULL};
    const double degrees = fmax(hottest_in("/sys/class/hwmon", "name", chips, "temp1_input"),
                                hottest_in("/sys/class/thermal", "type", zones, "temp"));

    if (isfinite(degrees))
        set(m, key, "%.1f", degrees);
    else
        lack(m, key, "no sensor of a processor that tells a number in /sys/class/hwmon or /sys/class/thermal");
}

/* ---- load -------------------------------------------------------------------------------------------------------- */

static void find_load(machine *m, machine_key key)
{
    double load[1];

    if (getloadavg(load, 1) == 1)
        set(m, key, "%.2f", load[0]);
    else
        lack(m, key, "getloadavg gives none");
}

/* Seconds that all processors together have worked; what a host took away from this machine counts as others' work. */
static double busy_seconds(void)
{
    double user, nice, system, idle, wait, irq, softirq, steal, seconds = (double)NAN;
    FILE *from = fopen("/proc/stat", "re");

    if (from == NULL)
        return seconds;
    if (fscanf(from, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &user, &nice, &system, &idle, &wait, &irq, &softirq,
               &steal) == 8)
        seconds = (user + nice + system + irq + softirq + steal) / (double)sysconf(_SC_CLK_TCK);
    fclose(from);
    return seconds;
}

static double own_seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void find_others(machine *m)
{
    const double elapsed = measure_now() - m->start, others = busy_seconds() - m->busy - (own_seconds() - m->own);

    if (!isfinite(others))
        lack(m, MACHINE_others, "/proc/stat cannot be read");
    else if (elapsed < 0.1) /* ticks of 10 ms */
        lack(m, MACHINE_others, "the run was too short");
    else
        set(m, MACHINE_others, "%.2f", fmax(0.0, others / elapsed));
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

void machine_begin(machine *m)
{
    *m = (machine){0};
    for (int i = 0; i < MACHINE_KEYS; i++)
        lack(m, (machine_key)i, "the run has not ended");
    find_kernel(m);
    find_governor(m);
    find_turbo(m);
    find_smt(m);
    find_virtual(m);
    find_nodes(m);
    find_line(m, MACHINE_microcode, "/proc/cpuinfo", "microcode");
    find_memory(m);
    find_memory_speed(m);
    find_line(m, MACHINE_affinity, "/proc/self/status", "Cpus_allowed_list");
    find_temperature(m, MACHINE_temperature_before);
    find_load(m, MACHINE_load_before);
    m->start = measure_now();
    m->busy = busy_seconds();
    m->own = own_seconds();
}

void machine_end(machine *m)
{
    find_temperature(m, MACHINE_temperature_after);
    find_load(m, MACHINE_load_after);
    find_others(m);
    if (counters_were_shared())
        set(m, MACHINE_instructions, "counted by perf events, in user mode, until the counter was multiplexed");
}

static void take_counter(machine *m, machine_key key, const char *reason, const char *how)
{
    if (reason[0] == '\0')
        set(m, key, "%s", how);
    else
        lack(m, key, "%s", reason);
}

void machine_open_counters(machine *m)
{
    counters_reasons why;

    counters_open(&why);
    take_counter(m, MACHINE_instructions, why.instructions, "counted by perf events, in user mode");
    take_counter(m, MACHINE_package_energy, why.package, "by RAPL, all packages");
    take_counter(m, MACHINE_device_energy, why.device, "by NVML, all devices");
}
