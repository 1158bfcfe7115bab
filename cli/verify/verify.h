/* SPDX-License-Identifier: MIT */
/* The parts of carom verify: query types as tables of columns and fields, queries, runs, the reference. Those for meshes
 * are in mesh.h. */
#ifndef CAROM_CLI_VERIFY_VERIFY_H
#define CAROM_CLI_VERIFY_VERIFY_H

#include "cli/cli.h"
#include "cli/output.h"

enum { VERIFY_BLOCK = 1 << 18, VERIFY_COLUMNS = 19, VERIFY_FIELDS = 11 };
enum { VERIFY_SWEEP, VERIFY_OVERLAP, VERIFY_SPHERES, VERIFY_TYPES };
enum { VERIFY_MODES = CAROM_ACCURACY_EXACT + 1 }; /* a mode is a carom_accuracy */

typedef struct verify_field {
    const char *name;
    size_t size; /* 1: a byte, 4: a float */
} verify_field;

typedef struct verify_type {
    const char *name;
    size_t column_count, field_count;
    const char *columns[VERIFY_COLUMNS];
    verify_field fields[VERIFY_FIELDS];
} verify_type;

extern const verify_type verify_types[VERIFY_TYPES];

/* Queries as separate columns, answers as separate arrays. */
typedef struct verify_queries {
    float *column[VERIFY_COLUMNS];
} verify_queries;

typedef struct verify_answers {
    unsigned char *field[VERIFY_FIELDS];
} verify_answers;

int verify_queries_alloc(verify_queries *queries, uint64_t count);
void verify_queries_free(verify_queries *queries);
int verify_answers_alloc(verify_answers *answers, uint64_t count);
void verify_answers_free(verify_answers *answers);

/* Fill queries first .. first + count of the stream that `seed` names; the same whatever the block size. */
void verify_generate(int type, uint64_t seed, uint64_t first, uint64_t count, verify_queries *out);
/* Fill with queries 0 .. count of one family of the reference. */
void verify_generate_family(int type, size_t family, uint64_t seed, uint64_t count, verify_queries *out);
/* Let `context` answer in that mode: all that can be asked or, with `mix`, all kernels that a query type has in turn,
 * which leave what they do not answer as it was. `stats` is the sum over all calls. */
typedef struct verify_question {
    int type, mix;
    carom_accuracy accuracy;
    uint64_t count;
} verify_question;
carom_status verify_run(carom_context *context, const verify_question *question, const verify_queries *queries,
                        const verify_answers *answers, carom_stats *stats, carom_error *err);
/* Print query i and its answer in hex floats. */
void verify_print_query(output *out, int type, const verify_queries *queries, uint64_t i);
void verify_print_answer(output *out, int type, const char *who, const verify_answers *answers, uint64_t i);

/* Compare `context` in both modes with the exact reference on `count` queries over all families. Adds wrong answers to *wrong.
 * Returns an exit status. */
int verify_reference(carom_context *context, uint64_t count, uint64_t seed, output *out, uint64_t *wrong);

/* A configuration as the mesh queries know it; context == NULL: it takes no part. */
typedef struct verify_subject {
    const char *name;
    carom_context *context;
    int is_cpu;
} verify_subject;

/* Let all answer queries of meshes and compare with the first, and that one's exact answers with the reference. Adds what
 * differs and what is wrong. Returns an exit status. */
int verify_meshes(const verify_subject *subjects, size_t count, const cli_options *options, output *out,
                  uint64_t *different, uint64_t *wrong);

/* A cell of a matrix. Fast mode: queries / different. Exact mode: by proof + by integers / different. */
void verify_write_cell(output *out, int mode, uint64_t queries, uint64_t by_proof, uint64_t by_integers,
                       uint64_t different);

/* A line of progress on standard error, at most a few a second, if it is a terminal and the work takes long. */
typedef struct verify_progress {
    double start, last;
    int shown, terminal;
} verify_progress;
verify_progress verify_progress_begin(void);
void verify_progress_show(verify_progress *progress, const char *what, uint64_t done, uint64_t total);
void verify_progress_end(verify_progress *progress);

#endif
