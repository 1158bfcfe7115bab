/* SPDX-License-Identifier: MIT */
/* Lists of hits in bounded memory. The library fills as many whole rows as fit and counts the others; their counts say
 * how to cut the rest, so that every row is searched twice at most, however many hits there are. */
#include "rows.h"

#include <stdlib.h>

enum { FEW_EACH = 16 }; /* records per row that few rows begin with */

/* Room for the records of a single row with more than there was. What the arrays hold has been written. */
static int make_room(rows_list *r, uint64_t records)
{
    if (records <= r->room)
        return EXIT_DONE;
    rows_fields_free(r->fields);
    r->room = records;
    if (rows_fields_alloc(r->query, records, r->fields))
        return EXIT_DONE;
    return cli_refuse(EXIT_WORK, "out of memory for the %llu hits of one row", (unsigned long long)records);
}

/* Ask for rows from .. from + count and write those that are complete; *complete counts them. */
static int list_rows(rows_list *r, rows_input *input, uint64_t from, uint64_t count, uint64_t *offsets,
                     uint64_t *complete)
{
    carom_list_totals totals = {0};
    carom_hit_list list = {.size = sizeof list, .totals = &totals, .capacity = r->room, .offsets = offsets};
    carom_stats stats = {.size = sizeof stats};
    carom_error err = {0};
    carom_status status =
        rows_ask(r->query, r->subject, r->options, input, from, count, r->fields, &list, &stats, &err);
    if (status != CAROM_OK)
        return rows_library_error(input, status, &err);
    cli_report_fallback(&stats);
    if (input->from == 0 && offsets != NULL)
        cli_report_unused_device(r->options, &stats);
    for (uint64_t i = 0; i < totals.stored; i++)
        list.query[i] += from;
    if (r->query->point > 0)
        rows_fill_points(r->query, input, r->fields, list.query, totals.stored);
    for (uint64_t i = 0; i < totals.stored; i++)
        list.query[i] += input->from;
    *complete = totals.complete;
    if (r->query->fill) {
        const int filled = r->query->fill(r->query->user, input->from + from + *complete, r->fields, totals.stored);
        if (filled != EXIT_DONE)
            return filled;
    }
    rows_emit(r->query, r->writer, r->fields, totals.stored);
    return EXIT_DONE;
}

/* The rows from `first` of the chunk on whose records fit together; at least one. */
static uint64_t rows_that_fit(const rows_list *r, uint64_t first, uint64_t count)
{
    uint64_t end = first + 1;
    while (end < count && r->offsets[end + 1] - r->offsets[first] <= r->room)
        end++;
    return end - first;
}

int rows_list_chunk(rows_list *r, rows_input *input)
{
    const uint64_t count = input->count;
    uint64_t done;
    int status = list_rows(r, input, 0, count, r->offsets, &done);
    while (status == EXIT_DONE && done < count && !r->writer->out->error) {
        uint64_t rows = rows_that_fit(r, done, count), complete = 0;
        status = make_room(r, r->offsets[done + rows] - r->offsets[done]);
        if (status == EXIT_DONE)
            status = list_rows(r, input, done, rows, NULL, &complete);
        if (status == EXIT_DONE && complete == 0)
            status = cli_refuse(EXIT_WORK, "row %llu has more hits than it was counted to have",
                                (unsigned long long)(input->from + done));
        done += complete;
        rows_show(input, done);
    }
    return status;
}

int rows_list_open(rows_list *r, uint64_t rows)
{
    r->room = rows < CLI_CHUNK / FEW_EACH ? FEW_EACH * (rows + 1) : CLI_CHUNK;
    r->offsets = cli_alloc(rows + 1, sizeof *r->offsets);
    return rows_fields_alloc(r->query, r->room, r->fields) && r->offsets ? EXIT_DONE : cli_no_memory();
}

void rows_list_close(rows_list *r)
{
    rows_fields_free(r->fields);
    free(r->offsets);
}
