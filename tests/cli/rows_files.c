/* SPDX-License-Identifier: MIT */
/* rows_files SEED COUNT: rows for every query of the registry that a command asks, the same numbers in several files,
 * for the test of binary rows. On standard output a line for each file and query: the file without its suffix, whether
 * there is a .npy, and the command. FILE.csv always is there. Of spheres, the mesh is mesh.off. */
#include "queries/query.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FLOATS_ONLY = 1, ALL = 2 }; /* of the optional columns: those that a .npy file may have */

static FILE *create(const char *name, const char *suffix)
{
    char path[96];
    snprintf(path, sizeof path, "%s.%s", name, suffix);
    FILE *file = fopen(path, "wb");
    if (!file) {
        perror(path);
        exit(2);
    }
    return file;
}

/* Each input of the row as its role wants it; here and there a row is not valid. */
static void random_row(const query_type *q, query_random *r, float *row)
{
    const int columns = query_column_count(q);
    for (int c = 0; c < columns; c++) {
        int component;
        const query_role role = query_input_of(q, c, &component)->role;
        const uint64_t bits = query_random_bits(r);
        const float number = (float)((int64_t)(bits % 4001) - 2000) / 1000.0f;
        const uint32_t mask = (uint32_t)(bits >> 32);
        row[c] = role == QUERY_POSITION || role == QUERY_VELOCITY ? number : number < 0.0f ? -number : number;
        if (role == QUERY_MASK)
            memcpy(&row[c], &mask, sizeof mask);
        else if (role == QUERY_RADIUS && bits % 61 == 0)
            row[c] = -1.0f;
        else if (role != QUERY_WINDOW && role != QUERY_REACH && bits % 211 == 0)
            row[c] = bits & 1024 ? (float)NAN : INFINITY;
    }
}

static int is_taken(const query_type *q, int column, int optional)
{
    int component;
    const query_input *input = query_input_of(q, column, &component);
    return !input->optional || optional == ALL || (optional == FLOATS_ONLY && query_input_width(input) == 3);
}

/* The header of a .npy file, filled up to 128 bytes. */
static void write_npy_header(FILE *to, int count, int width)
{
    char text[119];
    const int n =
        snprintf(text, sizeof text, "{'descr': '<f4', 'fortran_order': False, 'shape': (%d, %d), }", count, width);
    fwrite("\x93NUMPY\1\0\x76\0", 1, 10, to);
    fprintf(to, "%s%*s\n", text, 117 - n, "");
}

static void write_files(const query_type *q, uint64_t seed, int count, int optional, const char *name)
{
    FILE *csv = create(name, "csv"), *npy = optional == ALL ? NULL : create(name, "npy");
    query_random r = {seed};
    int width = 0;
    for (int c = 0; c < query_column_count(q); c++)
        if (is_taken(q, c, optional))
            fprintf(csv, "%s%s", width++ > 0 ? "," : "", query_column_name(q, c));
    fputc('\n', csv);
    if (npy)
        write_npy_header(npy, count, width);
    for (int i = 0; i < count; i++) {
        float row[QUERY_COLUMNS_MAX];
        random_row(q, &r, row);
        for (int c = 0, n = 0; c < query_column_count(q); c++) {
            int component;
            uint32_t mask;
            if (!is_taken(q, c, optional))
                continue;
            memcpy(&mask, &row[c], sizeof mask);
            fprintf(csv, n++ > 0 ? "," : "");
            if (query_input_of(q, c, &component)->role == QUERY_MASK)
                fprintf(csv, "%lu", (unsigned long)mask);
            else
                fprintf(csv, "%.9g", (double)row[c]);
            if (npy)
                fwrite(&row[c], sizeof row[c], 1, npy);
        }
        fputc('\n', csv);
    }
    if (fclose(csv) != 0 || (npy && fclose(npy) != 0))
        exit(2);
}

/* The files of a row: without what is optional, with what a .npy file may have of it, with all of it. */
static void write_query(const query_type *q, uint64_t seed, int count, const char *command, const char *word)
{
    static const char *const names[] = {"", "-floats", "-all"};
    for (int optional = 0, last = -1; optional <= ALL; optional++) {
        int width = 0;
        char name[64];
        for (int c = 0; c < query_column_count(q); c++)
            width += is_taken(q, c, optional);
        if (width == last)
            continue;
        last = width;
        snprintf(name, sizeof name, "%s%s", q->name, names[optional]);
        write_files(q, seed, count, optional, name);
        printf("%s %s %s", name, optional == ALL ? "csv" : "npy", command);
        if (word)
            printf(" --mesh mesh.off --hits %s --spheres\n", word);
        else
            printf(" --pairs\n");
    }
}

/* Some triangles in the cube in which the spheres are. */
static void write_mesh(uint64_t seed)
{
    enum { TRIANGLES = 40 };
    FILE *to = create("mesh", "off");
    query_random r = {seed};
    fprintf(to, "OFF\n%d %d 0\n", 3 * TRIANGLES, TRIANGLES);
    for (int i = 0; i < 9 * TRIANGLES; i++)
        fprintf(to, "%.3f%c", (double)(query_random_bits(&r) % 4000) / 1000.0 - 2.0, i % 3 < 2 ? ' ' : '\n');
    for (int i = 0; i < TRIANGLES; i++)
        fprintf(to, "3 %d %d %d\n", 3 * i, 3 * i + 1, 3 * i + 2);
    if (fclose(to) != 0)
        exit(2);
}

int main(int argc, char **argv)
{
    if (argc != 3)
        return 2;
    const uint64_t seed = strtoull(argv[1], NULL, 10);
    const int count = atoi(argv[2]);
    write_mesh(seed);
    for (int i = 0; i < QUERY_PAIR_COUNT; i++)
        write_query(query_pairs[i], seed, count, query_pairs[i]->name, NULL);
    for (int i = 0; i < QUERY_PAIR_COUNT; i++) {
        const query_type *q;
        const query_word *word;
        for (int k = 0; (word = query_word_of(query_pairs[i]->name, k, &q)) != NULL; k++)
            write_query(q, seed, count, query_pairs[i]->name, word->word);
    }
    return 0;
}
