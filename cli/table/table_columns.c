/* SPDX-License-Identifier: MIT */
#include "cli/base/base.h"
#include "table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_missing(const table_column *columns, size_t count, size_t i)
{
    int wanted = columns[i].group == 0;
    for (size_t k = 0; k < count; k++)
        wanted |= columns[i].group != 0 && columns[k].group == columns[i].group && columns[k].present;
    return wanted && !columns[i].present;
}

int table_add_name(char names[TABLE_NAMES], size_t *used, const char *name)
{
    size_t length = strlen(name), separator = *used > 0 ? 2 : 0;
    if (*used + separator + length + 6 > TABLE_NAMES) {
        *used += (size_t)snprintf(names + *used, TABLE_NAMES - *used, "%s...", separator ? ", " : "");
        return 0;
    }
    *used += (size_t)snprintf(names + *used, TABLE_NAMES - *used, "%s%s", separator ? ", " : "", name);
    return 1;
}

const table_column *table_missing(const table_column *columns, size_t count, char more[TABLE_NAMES])
{
    size_t first = 0, used = 0;
    more[0] = '\0';
    while (first < count && !is_missing(columns, count, first))
        first++;
    for (size_t i = first + 1; i < count; i++)
        if (is_missing(columns, count, i) && !table_add_name(more, &used, columns[i].name))
            break;
    return first < count ? &columns[first] : NULL;
}

int table_grow(table_column *columns, size_t count, const table_limits *limits, uint64_t *room, uint64_t rows)
{
    uint64_t larger_room = *room ? 2 * *room : 1024;
    if (rows <= *room)
        return 1;
    larger_room = larger_room < rows ? rows : larger_room > limits->rows ? limits->rows : larger_room;
    if (larger_room > SIZE_MAX / sizeof(uint64_t))
        return 0;
    for (size_t i = 0; i < count; i++) {
        if (!columns[i].present)
            continue;
        const size_t size = columns[i].kind == TABLE_WHOLE ? sizeof(uint64_t) : sizeof(float);
        float *larger = cli_resize(columns[i].data, larger_room, size);
        if (!larger)
            return 0;
        columns[i].data = larger;
    }
    *room = larger_room;
    return 1;
}

int table_move(table_window *w, table_column *columns, size_t count, const table_limits *limits, uint64_t most)
{
    w->from += w->size;
    const uint64_t left = w->rows - w->from, limit = most < limits->rows ? most : limits->rows;
    w->size = left < limit ? left : limit;
    return table_grow(columns, count, limits, &w->room, w->size);
}

double table_window_share(const table_window *w)
{
    return w->rows > 0 ? (double)(w->from + w->size) / (double)w->rows : 1.0;
}

const uint64_t *table_wholes(const table_column *column)
{
    return column->present ? (const uint64_t *)(const void *)column->data : NULL;
}

int table_is_shift(float number)
{
    return number >= INT8_MIN && number <= INT8_MAX && !((float)(int)number < number) && !((float)(int)number > number);
}

void table_free(table_column *columns, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(columns[i].data);
        columns[i].data = NULL;
    }
}
