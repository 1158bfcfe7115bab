/* SPDX-License-Identifier: MIT */
/* The meshes that go to a folder, by their names alone. */
#include "folder.h"

#include "cli/base/output_place.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- names --------------------------------------------------------------------------------------------------------
 */

/* The name without its folder and its suffix; `.stl` has no suffix. */
static char *stem_of(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    return strndup(name, dot && dot > name ? (size_t)(dot - name) : strlen(name));
}

/* Takes over `mesh`, which is NULL without memory. */
static int add(bake_jobs *jobs, char *mesh, uint64_t line)
{
    if (jobs->count == jobs->room) {
        const uint64_t room = 2 * jobs->room + 16;
        bake_job *at = mesh ? cli_resize(jobs->at, room, sizeof *at) : NULL;
        if (!at) {
            free(mesh);
            return cli_no_memory();
        }
        jobs->at = at;
        jobs->room = room;
    }
    bake_job *job = &jobs->at[jobs->count++];
    *job = (bake_job){.mesh = mesh, .stem = mesh ? stem_of(mesh) : NULL, .line = line};
    return job->stem ? EXIT_DONE : cli_no_memory();
}

/* A name is the whole line: it may have blanks, and any character but those that end it. */
static int add_line(bake_jobs *jobs, char *text, size_t length, uint64_t line)
{
    if (line == 1 && !strncmp(text, "\xef\xbb\xbf", 3)) {
        text += 3;
        length -= 3;
    }
    if (strlen(text) != length)
        return cli_refuse(EXIT_USAGE, "%s:%llu: a name with a byte 0, which no file can have", jobs->list,
                          (unsigned long long)line);
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r'))
        text[--length] = '\0';
    if (text[strspn(text, " \t")] == '\0' || *text == '#')
        return EXIT_DONE;
    return add(jobs, cli_beside(jobs->list, text), line);
}

static int read_list(bake_jobs *jobs)
{
    char *text = NULL;
    size_t room = 0;
    ssize_t length;
    int status = EXIT_DONE;
    FILE *file = fopen(jobs->list, "re");
    if (!file)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", jobs->list, strerror(errno));
    errno = 0;
    for (uint64_t line = 1; status == EXIT_DONE && (length = getline(&text, &room, file)) >= 0; line++)
        status = add_line(jobs, text, (size_t)length, line);
    if (status == EXIT_DONE && !feof(file))
        status = cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", jobs->list, strerror(errno));
    free(text);
    fclose(file);
    return status;
}

int bake_jobs_read(bake_jobs *jobs, const bake_request *o)
{
    int status = EXIT_DONE;
    *jobs = (bake_jobs){.list = o->mesh_list};
    for (int i = 0; o->mesh && i <= o->more_mesh_count && status == EXIT_DONE; i++)
        status = add(jobs, strdup(i == 0 ? o->mesh : o->more_meshes[i - 1]), 0);
    if (status == EXIT_DONE && jobs->list)
        status = read_list(jobs);
    if (status == EXIT_DONE && jobs->count == 0)
        status = jobs->list
                     ? cli_refuse(EXIT_USAGE, "%s: names no mesh", jobs->list)
                     : cli_refuse(EXIT_USAGE, "%s: --mesh FILE or --meshes LIST is missing", o->common.command->name);
    return status;
}

void bake_jobs_free(bake_jobs *jobs)
{
    for (uint64_t i = 0; i < jobs->count; i++) {
        free(jobs->at[i].mesh);
        free(jobs->at[i].stem);
    }
    free(jobs->at);
    *jobs = (bake_jobs){0};
}

char *bake_job_output(const bake_job *job, const char *folder, const bake_format *format)
{
    const char *gap = folder[strlen(folder) - 1] == '/' ? "" : "/";
    const size_t size = strlen(folder) + strlen(job->stem) + strlen(format->name) + 3;
    char *path = cli_alloc(size, 1);
    if (path)
        snprintf(path, size, "%s%s%s.%s", folder, gap, job->stem, format->name);
    return path;
}

/* ---- checks -------------------------------------------------------------------------------------------------------
 */

enum { NAME_WORDS = 2 * PATH_MAX + 32 };

/* A file that is read. */
typedef struct input {
    dev_t device;
    ino_t number;
    const char *path;
} input;

static int by_number(const void *a, const void *b)
{
    const input *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* The mesh as messages name it, with the line of the list; in quotes if blanks at its end would not be seen. */
static const char *name_of(const bake_jobs *jobs, const bake_job *job, char *words, size_t size)
{
    const size_t length = strlen(job->mesh);
    const char *quote = length > 0 && strchr(" \t", job->mesh[length - 1]) ? "'" : "";
    if (job->line > 0)
        snprintf(words, size, "%s:%llu: %s%s%s", jobs->list, (unsigned long long)job->line, quote, job->mesh, quote);
    else
        snprintf(words, size, "%s%s%s", quote, job->mesh, quote);
    return words;
}

static int by_stem(const void *a, const void *b)
{
    const bake_job *const *x = a, *const *y = b;
    const int order = strcmp((*x)->stem, (*y)->stem);
    return order != 0 ? order : *x < *y ? -1 : 1;
}

/* All that are not there are named, so that a list is mended at once. */
static int find_inputs(const bake_jobs *jobs, input *inputs, uint64_t *count)
{
    int status = EXIT_DONE;
    struct stat info;
    char words[NAME_WORDS];
    for (uint64_t i = 0; i < jobs->count; i++) {
        const bake_job *job = &jobs->at[i];
        const int is_there = stat(job->mesh, &info) == 0 && access(job->mesh, R_OK) == 0;
        const char *wrong = !is_there ? strerror(errno) : S_ISDIR(info.st_mode) ? strerror(EISDIR) : NULL;
        inputs[(*count)++] = (input){info.st_dev, info.st_ino, job->mesh};
        if (wrong)
            status = cli_refuse(EXIT_USAGE, "%s: %s", name_of(jobs, job, words, sizeof words), wrong);
    }
    if (jobs->list && stat(jobs->list, &info) == 0)
        inputs[(*count)++] = (input){info.st_dev, info.st_ino, jobs->list};
    return status;
}

/* Two meshes of one stem would replace each other. */
static int check_stems(const bake_jobs *jobs)
{
    const bake_job **sorted = cli_alloc(jobs->count, sizeof *sorted);
    char one[NAME_WORDS], other[NAME_WORDS];
    int status = EXIT_DONE;
    if (!sorted)
        return cli_no_memory();
    for (uint64_t i = 0; i < jobs->count; i++)
        sorted[i] = &jobs->at[i];
    qsort(sorted, jobs->count, sizeof *sorted, by_stem);
    for (uint64_t i = 1; i < jobs->count; i++)
        if (strcmp(sorted[i - 1]->stem, sorted[i]->stem) == 0)
            status = cli_refuse(EXIT_USAGE, "%s and %s: both outputs would have the name %s",
                                name_of(jobs, sorted[i - 1], one, sizeof one),
                                name_of(jobs, sorted[i], other, sizeof other), sorted[i]->stem);
    free(sorted);
    return status;
}

static int check_name(const char *output, const char *end, const input *inputs, uint64_t count)
{
    char name[PATH_MAX];
    struct stat info;
    const char *slash = strrchr(output, '/');
    if (strlen(slash + 1) + sizeof ".partial" > NAME_MAX + 1 ||
        snprintf(name, sizeof name, "%s%s", output, end) >= (int)sizeof name)
        return cli_refuse(EXIT_USAGE, "%s: the name is too long: with .partial it must have at most %d bytes", output,
                          (int)NAME_MAX);
    if (stat(name, &info) != 0)
        return EXIT_DONE;
    if (S_ISDIR(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s: is a folder, and the bake needs that name", name);
    const input key = {info.st_dev, info.st_ino, NULL};
    if (bsearch(&key, inputs, count, sizeof key, by_number))
        return cli_refuse(EXIT_USAGE, "%s: is read as an input, which the output would replace", name);
    return EXIT_DONE;
}

static int check_names(const char *output, const input *inputs, uint64_t count)
{
    static const char *const ends[] = {"", ".partial", ".journal"};
    int status = EXIT_DONE;
    for (size_t e = 0; e < sizeof ends / sizeof ends[0] && status == EXIT_DONE; e++)
        status = check_name(output, ends[e], inputs, count);
    return status;
}

/* Where an output goes: the file that is there, or a name in a folder. */
typedef struct place {
    dev_t device;
    ino_t number;
    char *name; /* NULL: it is the file */
    char *path;
} place;

static int by_place(const void *a, const void *b)
{
    const place *x = a, *y = b;
    const int order = by_number(&(input){x->device, x->number, NULL}, &(input){y->device, y->number, NULL});
    if (order != 0 || !x->name || !y->name)
        return order != 0 ? order : !!x->name - !!y->name;
    return strcmp(x->name, y->name);
}

/* A link may end at a file that is not there yet. */
static int find_place(place *to)
{
    struct stat info;
    output_place at;
    if (stat(to->path, &info) == 0) {
        to->device = info.st_dev;
        to->number = info.st_ino;
        return EXIT_DONE;
    }
    int status = output_place_find(&at, to->path);
    if (status == EXIT_DONE && at.folder >= 0 && fstat(at.folder, &info) == 0) {
        to->device = info.st_dev;
        to->number = info.st_ino;
        to->name = strdup(at.name);
        status = to->name ? EXIT_DONE : cli_no_memory();
    }
    output_place_free(&at);
    return status;
}

static int compare_places(place *places, uint64_t count)
{
    int status = EXIT_DONE;
    qsort(places, count, sizeof *places, by_place);
    for (uint64_t i = 1; i < count; i++)
        if (by_place(&places[i - 1], &places[i]) == 0)
            status = cli_refuse(EXIT_USAGE, "%s and %s are one file, by a link: remove one of them", places[i - 1].path,
                                places[i].path);
    return status;
}

/* Names differ, but links may join them: the outputs of two meshes would replace each other. */
static int check_outputs(const bake_jobs *jobs, const bake_request *o, const input *inputs, uint64_t input_count)
{
    const bake_format *format;
    uint64_t formats = 0, count = 0;
    int status = EXIT_DONE;
    for (int f = 0; bake_format_at(f) != NULL; f++)
        formats += o->bake.formats >> f & 1u;
    place *places = cli_alloc(jobs->count * formats, sizeof *places);
    if (!places)
        return cli_no_memory();
    for (uint64_t i = 0; i < jobs->count && status == EXIT_DONE; i++)
        for (int f = 0; (format = bake_format_at(f)) != NULL && status == EXIT_DONE; f++)
            if (o->bake.formats & 1u << f) {
                char *path = bake_job_output(&jobs->at[i], o->common.output, format);
                places[count++] = (place){.path = path};
                status = path ? check_names(path, inputs, input_count) : cli_no_memory();
            }
    for (uint64_t i = 0; i < count && status == EXIT_DONE; i++)
        status = find_place(&places[i]);
    if (status == EXIT_DONE)
        status = compare_places(places, count);
    for (uint64_t i = 0; i < count; i++) {
        free(places[i].name);
        free(places[i].path);
    }
    free(places);
    return status;
}

int bake_jobs_check(const bake_jobs *jobs, const bake_request *o)
{
    input *inputs = cli_alloc(jobs->count + 1, sizeof *inputs);
    uint64_t count = 0;
    if (!inputs)
        return cli_no_memory();
    int status = find_inputs(jobs, inputs, &count);
    if (status == EXIT_DONE)
        status = check_stems(jobs);
    qsort(inputs, count, sizeof *inputs, by_number);
    if (status == EXIT_DONE)
        status = check_outputs(jobs, o, inputs, count);
    free(inputs);
    return status;
}
