/* SPDX-License-Identifier: MIT */
/* The parts of carom verify: pair queries, runs, the reference. Those for meshes are in mesh.h, those for clouds in
 * clouds.c. */
#ifndef CAROM_CLI_VERIFY_VERIFY_H
#define CAROM_CLI_VERIFY_VERIFY_H

#include "cli/command/command.h"
#include "cli/base/output.h"
#include "queries/query.h"

typedef struct verify_options {
    cli_options common;
    uint64_t queries, seed;
    int is_queries_given;
} verify_options;

/* The whole of carom verify. `options`: a verify_options. Returns an exit status. */
int verify_command_run(const void *options);

enum { VERIFY_BLOCK = 1 << 18 };
enum { VERIFY_MODES = CAROM_ACCURACY_EXACT + 1 }; /* a mode is a carom_accuracy */

/* Queries as separate columns, answers as separate arrays. A type is the number of a row of the registry. */
typedef struct verify_queries {
    float *column[QUERY_COLUMNS_MAX];
} verify_queries;

typedef struct verify_answers {
    void *field[QUERY_FIELDS_MAX];
} verify_answers;

int verify_queries_alloc(verify_queries *queries, uint64_t count);
void verify_queries_free(verify_queries *queries);
int verify_answers_alloc(verify_answers *answers, uint64_t count);
void verify_answers_free(verify_answers *answers);
/* Field `field` of answer i. */
void *verify_answer_at(int type, const verify_answers *answers, int field, uint64_t i);

/* Fill queries first .. first + count of the stream that `seed` names; the same whatever the block size. */
void verify_generate(int type, uint64_t seed, uint64_t first, uint64_t count, verify_queries *out);
/* Fill with queries 0 .. count of one family of the reference. */
void verify_generate_family(int type, size_t family, uint64_t seed, uint64_t count, verify_queries *out);
/* Let `context` answer in that mode: all that can be asked or, with `mix`, all kernels that a query type has in turn,
 * which leave what they do not answer as it was. `stats` is the sum over all calls. */
typedef struct verify_request {
    int type, mix;
    carom_accuracy accuracy;
    uint64_t count;
} verify_request;
carom_status verify_run(carom_context *context, const verify_request *request, const verify_queries *queries,
                        const verify_answers *answers, carom_stats *stats, carom_error *err);
/* Print query i and its answer in hex floats. */
void verify_print_query(output *out, int type, const verify_queries *queries, uint64_t i);
void verify_print_answer(output *out, int type, const char *name, const verify_answers *answers, uint64_t i);
/* One value of a byte or a float. */
void verify_print_value(output *out, const query_field *field, const void *value);
/* The values of these fields, and a newline. */
void verify_print_values(output *out, int type, const query_value *values, uint32_t fields);

/* Compare `context` in both modes with the exact reference on `count` queries over all families. Adds wrong answers to
 * *wrong. Returns an exit status. */
int verify_reference(carom_context *context, uint64_t count, uint64_t seed, output *out, uint64_t *wrong);

/* A configuration as the mesh queries know it; context == NULL: it takes no part. */
typedef struct verify_subject {
    const char *name;
    carom_context *context;
    int is_cpu;
} verify_subject;

/* Let all answer queries of meshes and compare with the first, and that one's exact answers with the reference. Adds
 * what differs and what is wrong. Returns an exit status. */
int verify_meshes(const verify_subject *subjects, size_t count, const verify_options *options, output *out,
                  uint64_t *different, uint64_t *wrong);

/* The same for spheres among themselves: clouds.c. */
int verify_clouds(const verify_subject *subjects, size_t count, const verify_options *options, output *out,
                  uint64_t *different, uint64_t *wrong);

/* How many queries each rung of exact mode decided. */
typedef struct verify_rungs {
    uint64_t first_filter, second_filter, integers;
} verify_rungs;
void verify_add_rungs(verify_rungs *sum, const carom_stats *stats);

/* A cell of a matrix. Fast mode: queries / different. Exact mode: first filter + second + integers / different. */
void verify_write_cell(output *out, int mode, uint64_t queries, const verify_rungs *rungs, uint64_t different);
/* The title of a matrix's column. */
void verify_write_column(output *out, const char *title);

#endif
