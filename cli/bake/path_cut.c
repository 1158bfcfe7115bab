/* SPDX-License-Identifier: MIT */
#include "path.h"

/* Then as many points as took so long the time before, but no more than GROWTH times as many: a signal waits for a
 * chunk, and segments may hit hundreds of triangles that are all wanted. */
static const double chunk_seconds = 1.0;
enum { CHUNK_GROWTH = 4 };

/* The section of a path that begins with element `first`, whose segments so far begin before `first`. */
static path_section begin_section(const path_current *path, const paths_survey *survey, uint64_t first)
{
    return (path_section){.id = path->id,
                          .segment = path->segment,
                          .number = path->number,
                          .start = path->start,
                          .begin = (uint32_t)first,
                          .end = (uint32_t)first,
                          .is_invalid = paths_is_invalid(survey, path->number) ? 1 : 0,
                          .is_hit = path->is_hit != 0};
}

/* No more points of the path follow. Its segment is one that an earlier run may have asked for. */
static void end_section(path_section *s)
{
    s->is_last = 1;
    s->is_point = s->segment == 0 && s->begin == s->end && !s->is_hit;
    s->end += s->is_point;
}

uint64_t path_cut(const paths_file *f, const paths_survey *survey, path_current *path, path_section *sections)
{
    uint64_t count = 0;
    if (path->is_open)
        sections[count++] = begin_section(path, survey, 0);
    for (uint64_t i = 1; i <= f->count; i++) {
        if (path->is_open && f->id[i] == path->id) {
            sections[count - 1].end++;
            path->segment++;
            continue;
        }
        if (count > 0)
            end_section(&sections[count - 1]);
        path->number += (uint64_t)path->is_open;
        path->is_open = 1;
        path->is_hit = 0;
        path->id = f->id[i];
        path->segment = 0;
        path->start = f->from + i - 1;
        sections[count++] = begin_section(path, survey, i);
    }
    if (count > 0 && f->count == 0)
        end_section(&sections[count - 1]);
    return count;
}

int path_is_of_part(const bake_options *o, const paths_survey *survey, const path_section *section)
{
    const uint64_t points = survey->points;
    return section->start >= bake_share(points, o->part - 1, o->parts) &&
           section->start < bake_share(points, o->part, o->parts);
}

uint64_t path_next_chunk(uint64_t points, double seconds)
{
    const double fitting = (double)points * chunk_seconds / (seconds > 0.0 ? seconds : 1e-9);
    const uint64_t most = points * CHUNK_GROWTH < PATH_CHUNK ? points * CHUNK_GROWTH : PATH_CHUNK;
    return fitting < 1.0 ? 1 : fitting < (double)most ? (uint64_t)fitting : most;
}
