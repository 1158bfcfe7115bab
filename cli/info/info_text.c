/* SPDX-License-Identifier: MIT */
/* carom info as text, for people. */
#include "info.h"

#include <string.h>

/* A driver may call itself anything. */
static void shown(output *out, const char *text)
{
    output_shown(out, text, strlen(text));
}

static void write_cpu(output *out, const info *i)
{
    output_format(out, "version: %s\nbuild: %s, OpenCL %s, HDF5 %s\nmeshes: %s\ninstruction sets:", carom_version(),
                  i->compiler, carom_has_opencl() ? "yes" : "no", i->hdf5 ? i->hdf5 : "no", i->meshes);
    for (int k = 0; k < i->isa_count; k++)
        output_format(out, " %s", carom_isa_name(i->isas[k]));
    output_format(out, "\ncpu path: %s, %u thread%s\n", carom_isa_name(i->isa), i->threads, i->threads == 1 ? "" : "s");
}

static const char *yes_no(uint8_t claim)
{
    return claim ? "yes" : "no";
}

static void write_device(output *out, const info_device *device)
{
    const carom_device_info *d = &device->is;
    output_format(out, "device %u: ", d->index);
    shown(out, d->name);
    output_text(out, "\n  platform: ");
    shown(out, d->platform);
    output_format(out, "\n  kind: %s, driver ", d->kind);
    shown(out, d->driver);
    output_text(out, ", ");
    shown(out, d->version);
    output_text(out, d->available ? "\n" : " (not available)\n");
    output_format(out, "  compute units: %u, lanes per work-item: %u, memory: %llu MiB, largest buffer: %llu MiB\n",
                  d->compute_units, d->lanes, (unsigned long long)(d->memory >> 20),
                  (unsigned long long)(d->max_allocation >> 20));
    output_format(out, "  claims: binary64 %s, correctly rounded division and root %s, denormals %s\n  bit probe: ",
                  yes_no(d->fp64), yes_no(d->correctly_rounded), yes_no(d->denormals));
    if (device->verdict == INFO_PASSED)
        output_text(out, "passed\n");
    else if (device->verdict == INFO_REFUSED)
        output_format(out, "refused (%s): %s\n", carom_status_name(device->status), device->why);
    else
        output_format(out, "%s\n", device->why);
}

static void write_driver(output *out, const info *i, const info_driver *driver)
{
    if (!driver->lives) {
        output_format(out, "driver %s: fails alone too; to leave it out, move it away\n", driver->path);
        return;
    }
    output_format(out, "driver %s: %u device%s; to use it alone, set OCL_ICD_VENDORS=%s\n", driver->path,
                  driver->listed, driver->listed == 1 ? "" : "s", driver->path);
    for (size_t k = 0; k < driver->count; k++)
        write_device(out, &i->devices[driver->first + k]);
}

/* What `auto` does, a line for each of its rules. */
static void write_choice(output *out, const info *i)
{
    output_format(out,
                  "auto: batches below %u queries stay on the cpu path (%s, %u thread%s): to open a device and build a "
                  "program takes longer\n",
                  CAROM_AUTO_MIN_QUERIES, carom_isa_name(i->isa), i->threads, i->threads == 1 ? "" : "s");
    if (i->chosen == i->device_count) {
        output_format(out, "auto: larger ones stay there too, because %s\n", i->why);
        return;
    }
    const carom_device_info *d = &i->devices[i->chosen].is;
    output_format(out, "auto: larger ones go to device %u (", d->index);
    shown(out, d->name);
    output_format(out, "), %s%s\n", i->why,
                  i->options->device ? "" : "; after four of a kind the faster of it and the cpu path has the rest");
}

void info_write_text(const info *i, output *out)
{
    const size_t alone = i->driver_count > 0 ? i->drivers[0].first : i->device_count;
    write_cpu(out, i);
    if (i->opencl[0])
        output_format(out, "opencl: %s\n", i->opencl);
    for (size_t k = 0; k < alone; k++)
        write_device(out, &i->devices[k]);
    for (size_t k = 0; k < i->driver_count; k++)
        write_driver(out, i, &i->drivers[k]);
    if (i->touched)
        write_choice(out, i);
}
