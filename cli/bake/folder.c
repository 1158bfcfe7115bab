/* SPDX-License-Identifier: MIT */
#include "folder.h"
#include "slabs.h"

#include "cli/base/progress.h"
#include "cli/base/unfinished.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int is_folder_name(const char *path)
{
    struct stat info;
    return path[strlen(path) - 1] == '/' || (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

int bake_folder_is_meant(const bake_request *o)
{
    int is_meant = o->more_mesh_count > 0 || o->mesh_list || o->bake.formats;
    const char *path;
    for (int i = 0; (path = cli_output_of(&o->common, o->common.command->output, i)) != NULL; i++)
        is_meant |= is_folder_name(path);
    return is_meant;
}

/* ---- before any work ----------------------------------------------------------------------------------------------
 */

static int check_output(const bake_request *o)
{
    const char *command = o->common.command->name, *path = o->common.output;
    struct stat info;
    if (!path)
        return cli_refuse(EXIT_USAGE, "%s: -o DIR/ is missing", command);
    if (!is_folder_name(path))
        return cli_refuse(EXIT_USAGE, "%s: -o %s: several meshes, --meshes and --format need a folder: -o DIR/",
                          command, path);
    if (o->common.more_output_count > 0)
        return cli_refuse(EXIT_USAGE,
                          "%s: -o %s is a folder, so -o %s is too much: --format takes several, such as "
                          "nrrd,npy",
                          command, path, o->common.more_outputs[0]);
    if (stat(path, &info) != 0)
        return cli_refuse(EXIT_USAGE, "%s: the folder cannot be opened: %s", path, strerror(errno));
    if (access(path, W_OK | X_OK) != 0)
        return cli_refuse(EXIT_USAGE, "%s: nothing can be written there: %s", path, strerror(errno));
    if (!o->bake.formats)
        return cli_refuse(EXIT_USAGE, "%s: -o %s is a folder, so --format is missing, such as --format nrrd", command,
                          path);
    return EXIT_DONE;
}

static int check_options(const bake_request *o, const bake_kind *kind)
{
    const char *command = kind->command->name;
    const bake_plan plan = {
        .kind = kind, .arrays = 1u << kind->array | (o->bake.arrays & kind->more), .bits = o->bake.bits};
    const bake_format *format;
    if (bake_crew_here->is_many)
        return cli_refuse(EXIT_USAGE, "%s: carom-mpi bakes one mesh, -o FILE; carom bakes many", command);
    if (o->scene)
        return cli_refuse(EXIT_USAGE, "%s: --scene has an output of its own, -o FILE", command);
    if (o->bake.is_part)
        return cli_refuse(EXIT_USAGE, "%s: --part is of one mesh, -o FILE", command);
    int status = check_output(o);
    if (status == EXIT_DONE && kind->radius && !(o->bake.given & BAKE_GIVEN_RADIUS))
        status = cli_refuse(EXIT_USAGE, "%s: --%s R is missing", command, kind->radius);
    if (status == EXIT_DONE)
        status = bake_plan_is_placed(kind, &o->bake);
    for (int i = 0; (format = bake_format_at(i)) != NULL && status == EXIT_DONE; i++)
        if (o->bake.formats & 1u << i) {
            status = bake_format_check(format, &plan, o->common.output);
            if (status == EXIT_DONE && format->volume->require)
                status = format->volume->require(o->common.output);
        }
    return status;
}

/* ---- one after another --------------------------------------------------------------------------------------------
 */

typedef struct folder {
    const bake_request *options;
    const bake_kind *kind;
    bake_jobs jobs;
    bake_shared shared;
    progress shown;
    uint64_t baked, current, failed;
} folder;

/* An earlier run of the same command may have begun or done it. */
static int bake_job_alone(folder *f, bake_job *job, int *is_current)
{
    bake_request own = *f->options;
    char *paths[1 + CLI_MORE_OUTPUTS] = {NULL};
    const bake_format *format;
    int count = 0, complete = 1;
    for (int i = 0; (format = bake_format_at(i)) != NULL && complete; i++)
        if (own.bake.formats & 1u << i) {
            paths[count] = bake_job_output(job, own.common.output, format);
            complete = paths[count++] != NULL;
        }
    own.mesh = job->mesh;
    own.more_mesh_count = 0;
    own.bake.resume = BAKE_REPEATS;
    own.common.output = paths[0];
    own.common.more_output_count = count - 1;
    for (int i = 1; i < count; i++)
        own.common.more_outputs[i - 1] = paths[i];
    const int status = complete ? bake_one_mesh(&own, f->kind, &f->shared, is_current) : cli_no_memory();
    for (int i = 0; i < count; i++)
        free(paths[i]);
    return status;
}

/* A line for each, so that a log tells what became of it. */
static int bake_next(folder *f, uint64_t i)
{
    bake_job *job = &f->jobs.at[i];
    const unsigned long long number = i + 1, count = f->jobs.count;
    int is_current = 0;
    const int status = bake_job_alone(f, job, &is_current);
    if (status == EXIT_STOPPED)
        return status;
    if (status != EXIT_DONE)
        cli_message("%llu of %llu: %s: failed", number, count, job->mesh);
    else if (is_current)
        cli_message("%llu of %llu: %s: is up to date", number, count, job->mesh);
    else
        cli_message("%llu of %llu: %s: is baked", number, count, job->mesh);
    job->has_failed = status != EXIT_DONE;
    f->failed += status != EXIT_DONE;
    f->current += status == EXIT_DONE && is_current;
    f->baked += status == EXIT_DONE && !is_current;
    if (is_current)
        progress_found(&f->shown, number);
    else
        progress_show(&f->shown, number);
    return EXIT_DONE;
}

static int end(const folder *f, int status)
{
    const unsigned long long count = f->jobs.count, done = f->baked + f->current;
    const char *path = f->options->common.output;
    for (uint64_t i = 0; i < f->jobs.count; i++)
        if (f->jobs.at[i].has_failed)
            cli_message("%s: failed: %s", path, f->jobs.at[i].mesh);
    cli_message("%s: %llu of %llu meshes are there: %llu baked, %llu up to date before; %llu failed", path, done, count,
                (unsigned long long)f->baked, (unsigned long long)f->current, (unsigned long long)f->failed);
    if (status == EXIT_STOPPED)
        cli_message("%s: stopped; the same command goes on", path);
    return status == EXIT_DONE && f->failed > 0 ? EXIT_WORK : status;
}

static int bake_all(folder *f)
{
    int status = EXIT_DONE;
    progress_begin(&f->shown, f->kind->command->name, "meshes", 0, f->jobs.count);
    progress_gather(&f->shown);
    for (uint64_t i = 0; i < f->jobs.count && status == EXIT_DONE; i++)
        status = unfinished_asked() ? EXIT_STOPPED : bake_next(f, i);
    progress_gather(NULL);
    progress_end(&f->shown);
    return end(f, status);
}

/* A device that is asked for and cannot be had would fail with each mesh. */
static int check_device(folder *f)
{
    const cli_options *o = &f->options->common;
    return o->backend == CAROM_BACKEND_OPENCL ? bake_shared_open(f->options, 0, &f->shared) : EXIT_DONE;
}

int bake_folder(const bake_request *options, const bake_kind *kind)
{
    folder f = {.options = options, .kind = kind};
    int status = check_options(options, kind);
    if (status == EXIT_DONE)
        status = bake_jobs_read(&f.jobs, options);
    if (status == EXIT_DONE)
        status = bake_jobs_check(&f.jobs, options);
    if (status == EXIT_DONE)
        status = check_device(&f);
    if (status == EXIT_DONE)
        status = bake_all(&f);
    carom_context_destroy(f.shared.context);
    bake_jobs_free(&f.jobs);
    return status;
}
