/* SPDX-License-Identifier: MIT */
/* What carom info knows, gathered before it is written as text or as JSON. */
#ifndef CAROM_CLI_INFO_INFO_H
#define CAROM_CLI_INFO_INFO_H

#include "cli/probe/probe.h"
#include "cli/base/output.h"

enum { INFO_ISAS = 5 };

typedef enum info_verdict {
    INFO_PASSED,
    INFO_REFUSED, /* the library refused the device: `status` and `why` */
    INFO_DIED     /* the process that tried it: `why` */
} info_verdict;

typedef struct info_device {
    carom_device_info is; /* names as the driver gives them: any bytes */
    info_verdict verdict;
    carom_status status;
    char why[PROBE_WORDS];
} info_device;

/* One driver alone, where all together die. */
typedef struct info_driver {
    char *path;
    int lives;
    size_t first, count; /* of its devices that were tried */
    uint32_t listed;     /* all that it has */
} info_driver;

typedef struct info_options {
    cli_options common;
    const char *mesh;
    int json;
} info_options;

typedef struct info {
    const cli_options *options;
    const char *compiler, *meshes, *hdf5; /* hdf5: its version, NULL: not in this build */
    carom_isa isas[INFO_ISAS], isa;       /* those of this CPU, and the one in use */
    int isa_count;
    uint32_t threads;
    char opencl[PROBE_WORDS + 520]; /* why no device is listed; empty: they are */
    info_device *devices;           /* those that the options ask for; behind them those of single drivers */
    size_t device_count;
    info_driver *drivers;
    size_t driver_count;
    size_t chosen; /* the device that auto takes for large batches; device_count: none */
    int touched;   /* OpenCL was, so that auto has a choice */
    char why[160]; /* it is chosen, or none is */
} info;

void info_write_text(const info *i, output *out);
void info_write_json(const info *i, output *out);

/* What a mesh holds, in either form; info_mesh.c. Returns an exit status. */
int info_mesh(const info_options *options);

#endif
