/* SPDX-License-Identifier: MIT */
/* carom info as JSON, for programs. The keys are documented in docs/command.md. */
#include "info.h"
#include "cli/base/json.h"

static void write_device(json_writer *j, const info_device *device)
{
    static const char *const verdicts[] = {"passed", "refused", "died"};
    const carom_device_info *d = &device->is;
    json_object(j, NULL);
    json_count(j, "index", d->index);
    json_text(j, "name", d->name);
    json_text(j, "platform", d->platform);
    json_text(j, "kind", d->kind);
    json_text(j, "driver", d->driver);
    json_text(j, "version", d->version);
    json_bool(j, "available", d->available);
    json_count(j, "compute_units", d->compute_units);
    json_count(j, "lanes", d->lanes);
    json_count(j, "memory_bytes", d->memory);
    json_count(j, "largest_buffer_bytes", d->max_allocation);
    json_bool(j, "binary64", d->fp64);
    json_bool(j, "correctly_rounded", d->correctly_rounded);
    json_bool(j, "denormals", d->denormals);
    json_text(j, "bit_probe", verdicts[device->verdict]);
    json_text(j, "status", device->verdict == INFO_REFUSED ? carom_status_name(device->status) : NULL);
    json_text(j, "why", device->why[0] ? device->why : NULL);
    json_close(j, '}');
}

static void write_devices(json_writer *j, const info *i, size_t first, size_t count)
{
    json_array(j, "devices");
    for (size_t k = 0; k < count; k++)
        write_device(j, &i->devices[first + k]);
    json_close(j, ']');
}

static void write_drivers(json_writer *j, const info *i)
{
    json_array(j, "drivers_alone");
    for (size_t k = 0; k < i->driver_count; k++) {
        json_object(j, NULL);
        json_text(j, "path", i->drivers[k].path);
        json_bool(j, "lists_devices", i->drivers[k].lives);
        write_devices(j, i, i->drivers[k].first, i->drivers[k].count);
        json_close(j, '}');
    }
    json_close(j, ']');
}

static void write_choice(json_writer *j, const info *i)
{
    json_object(j, "auto");
    json_count(j, "from_queries", CAROM_AUTO_MIN_QUERIES);
    if (i->chosen < i->device_count)
        json_count(j, "device", i->devices[i->chosen].is.index);
    else
        json_null(j, "device");
    json_text(j, "why", i->why);
    json_close(j, '}');
}

void info_write_json(const info *i, output *out)
{
    json_writer j;
    json_begin(&j, out);
    json_text(&j, "version", carom_version());
    json_text(&j, "compiler", i->compiler);
    json_bool(&j, "opencl", carom_has_opencl());
    json_text(&j, "hdf5", i->hdf5);
    json_text(&j, "meshes", i->meshes);
    json_array(&j, "isas");
    for (int k = 0; k < i->isa_count; k++)
        json_text(&j, NULL, carom_isa_name(i->isas[k]));
    json_close(&j, ']');
    json_text(&j, "isa", carom_isa_name(i->isa));
    json_count(&j, "threads", i->threads);
    json_text(&j, "no_devices", i->opencl[0] ? i->opencl : NULL);
    write_devices(&j, i, 0, i->driver_count > 0 ? i->drivers[0].first : i->device_count);
    write_drivers(&j, i);
    if (i->touched)
        write_choice(&j, i);
    else
        json_null(&j, "auto");
    json_end(&j);
}
