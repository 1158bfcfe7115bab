/* SPDX-License-Identifier: MIT */
/* Facts of the machine that a reader of a measurement must know, as far as the system tells. */
#ifndef CAROM_BENCH_MACHINE_H
#define CAROM_BENCH_MACHINE_H

/* One table for JSON, report and reader: key, words, unit, and whether the value is a number. */
#define MACHINE_FACTS(X)                                          \
    X(kernel, "kernel", "", 0)                                    \
    X(governor, "frequency governor", "", 0)                      \
    X(turbo, "turbo or boost", "", 0)                             \
    X(smt, "simultaneous multithreading", "", 0)                  \
    X(virtual_machine, "virtual machine", "", 0)                  \
    X(numa_nodes, "NUMA nodes", "", 1)                            \
    X(microcode, "microcode", "", 0)                              \
    X(memory, "memory", " MB", 1)                                 \
    X(memory_speed, "memory speed", " MT/s", 1)                   \
    X(affinity, "processors that the process may use", "", 0)     \
    X(temperature_before, "temperature before", " degrees C", 1)  \
    X(temperature_after, "temperature after", " degrees C", 1)    \
    X(load_before, "load of the minute before", "", 1)            \
    X(load_after, "load of the last minute at the end", "", 1)    \
    X(others, "processors busy with other programs, mean", "", 1) \
    X(instructions, "instructions", "", 0)                        \
    X(package_energy, "energy of the processors", "", 0)          \
    X(device_energy, "energy of NVIDIA devices", "", 0)

typedef enum machine_key {
#define X(key, words, unit, is_number) MACHINE_##key,
    MACHINE_FACTS(X)
#undef X
        MACHINE_KEYS
} machine_key;

/* A fact or why there is none: one of both is empty. */
typedef struct machine_fact {
    char value[192], reason[192];
} machine_fact;

typedef struct machine {
    machine_fact facts[MACHINE_KEYS];
    /* At the beginning: seconds of the clock, of all processors' work, and of this process's. */
    double start, busy, own;
} machine;

const char *machine_name(machine_key key);  /* in JSON */
const char *machine_words(machine_key key); /* in a table */
const char *machine_unit(machine_key key);
int machine_is_number(machine_key key);

/* Before a run, and after it. counters.h fills in what counters say. */
void machine_begin(machine *m);
void machine_end(machine *m);
/* Opens the counters, too, and says in the facts which can be read. */
void machine_open_counters(machine *m);

#endif
