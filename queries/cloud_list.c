/* SPDX-License-Identifier: MIT */
#include "cloud_list.h"

#include <math.h>
#include <string.h>

#include "calls/cloud.h"

enum { ALIGN = 64, MEMBERS = sizeof caromi_pairs_out / sizeof caromi_pairs_out[0] };

/* ---- columns ----------------------------------------------------------------------------------------------------- */

/* Offsets come first, then a member for each column. */
static const caromi_member *member_of(int column)
{
    return &caromi_pairs_out[column + 1];
}

int query_list_columns(void)
{
    return MEMBERS - 1;
}

const char *query_list_name(int column)
{
    return member_of(column)->name;
}

static size_t bytes_of(const caromi_member *m)
{
    return m->kind == CAROMI_POINTS_OUT ? 3 * sizeof(float) : m->size;
}

size_t query_list_element(int column)
{
    return bytes_of(member_of(column));
}

static void point_to(carom_cloud_pair_list *list, const caromi_member *m, void *at)
{
    char *member = (char *)list + m->offset;
    if (m->kind == CAROMI_POINTS_OUT)
        *(carom_points_out *)(void *)member = at ? carom_xyz_out(at) : (carom_points_out){.x = NULL};
    else
        memcpy(member, &at, sizeof at);
}

void *query_list_column(const carom_cloud_pair_list *list, int column)
{
    void *at;
    memcpy(&at, (const char *)list + member_of(column)->offset, sizeof at); /* of points x, which comes first */
    return at;
}

void query_list_drop(carom_cloud_pair_list *list, int column)
{
    point_to(list, member_of(column), NULL);
}

size_t query_list_lay_out(carom_cloud_pair_list *list, uint64_t spheres, void *memory)
{
    size_t used = 0;
    for (int i = 0; i < MEMBERS; i++) {
        const caromi_member *m = &caromi_pairs_out[i];
        const uint64_t count = m->extent == CAROMI_PER_OFFSET ? spheres + 1 : list->capacity;
        point_to(list, m, memory ? (char *)memory + used : NULL);
        used += ((size_t)count * bytes_of(m) + ALIGN - 1) / ALIGN * ALIGN;
    }
    return used;
}

void query_list_skip(carom_cloud_pair_list *list, uint64_t records)
{
    for (int c = 0; c < query_list_columns(); c++) {
        char *at = query_list_column(list, c);
        if (at)
            point_to(list, member_of(c), at + records * query_list_element(c));
    }
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

int query_list_differs(const carom_cloud_pair_list *one, const carom_cloud_pair_list *other, uint64_t count)
{
    for (int c = 0; c < query_list_columns(); c++) {
        const void *x = query_list_column(one, c), *y = query_list_column(other, c);
        if (x && y && count > 0 && memcmp(x, y, (size_t)count * query_list_element(c)) != 0)
            return c;
    }
    return -1;
}

static int is_near(float got, const ref_cloud_number *wanted)
{
    const float value = (float)wanted->value;
    return wanted->error > 0.0 ? fabs((double)got - wanted->value) <= wanted->error
                               : memcmp(&got, &value, sizeof value) == 0;
}

const char *query_list_judge(const carom_cloud_pair_list *list, uint64_t i, const ref_cloud_answer *truth)
{
    for (int c = 0; c < query_list_columns(); c++) {
        const ref_cloud_number *wanted = ref_cloud_column(truth, query_list_name(c));
        const float *got = query_list_column(list, c);
        const size_t numbers = query_list_element(c) / sizeof(float);
        for (size_t k = 0; wanted && got && k < numbers; k++)
            if (!is_near(got[numbers * i + k], &wanted[k]))
                return query_list_name(c);
    }
    return NULL;
}
