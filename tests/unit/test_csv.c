/* SPDX-License-Identifier: MIT */
/* The CSV reader (cli/table/csv.c, cli/table/csv_lines.c): the same rows and the same refusal wherever a block, a part
 * of a thread or a chunk of rows ends, from files and pipes, against numbers by hand and the oracle in tests/support.
 */
#include "tests/support/support.h"
#include "tests/support/csv_oracle.h"
#include "tests/support/reader_host.h"

#include <math.h>
#include <unistd.h>

enum { SEED = 31, TABLES = 300 };

/* x and radius are required, wx and wy come together, t_max and mask may be missing. */
enum { X, RADIUS, WX, WY, T_MAX, MASK, COLUMNS };

static void set_columns(table_column columns[COLUMNS])
{
    const table_column all[COLUMNS] = {{.name = "x"},
                                       {.name = "radius"},
                                       {.name = "wx", .group = 1},
                                       {.name = "wy", .group = 1},
                                       {.name = "t_max", .kind = TABLE_TIME, .group = 2},
                                       {.name = "mask", .kind = TABLE_MASK, .group = 3}};
    memcpy(columns, all, sizeof all);
}

static csv_way whole(size_t size)
{
    return (csv_way){.limits = {.rows = size + 1, .threads = 1, .part = size + 1}, .most = UINT64_MAX};
}

static void read_table(const char *text, size_t size, const csv_way *way, csv_table *out)
{
    table_column columns[COLUMNS];
    set_columns(columns);
    const int status = csv_table_read(text, size, columns, COLUMNS, way, out);
    assert_int_equal(status, out->refused ? EXIT_USAGE : EXIT_DONE);
}

static void expect(const char *text, size_t size, const csv_way *way, const csv_table *expected)
{
    csv_table got;
    read_table(text, size, way, &got);
    const char *what = csv_table_differs(expected, &got);
    if (what)
        fail_msg("%s differs, with %llu rows a chunk, %u threads of %zu bytes, at most %llu rows a call, pieces of %zu "
                 "bytes (%s):\n%.*s",
                 what, (unsigned long long)way->limits.rows, way->limits.threads, way->limits.part,
                 (unsigned long long)way->most, way->piece, reader_host_said, (int)size, text);
    csv_table_free(&got);
}

/* In blocks of every size, so that each byte of the text is the last of one. */
static void expect_every_way(const char *text, size_t size)
{
    table_column columns[COLUMNS];
    csv_table expected;
    set_columns(columns);
    csv_oracle_read(text, size, columns, COLUMNS, &expected);
    csv_way way = whole(size);
    expect(text, size, &way, &expected);
    char said[sizeof reader_host_said];
    memcpy(said, reader_host_said, sizeof said);
    for (size_t part = 1; part <= size + 1; part++)
        for (unsigned threads = 1; threads <= 4; threads++) {
            way = (csv_way){{1 + (part + threads) % 5, threads, part}, 1 + (part * threads) % 7, 0};
            expect(text, size, &way, &expected);
            const char *column = strstr(said, ": column "); /* the path in front has a number of its own */
            if (column && !strstr(reader_host_said, column))
                fail_msg("%s, not %s", reader_host_said, said);
        }
    for (size_t piece = 1; piece < 20; piece += 3) {
        way = (csv_way){{3, 2, 4 * piece}, 2, piece};
        expect(text, size, &way, &expected);
    }
    csv_table_free(&expected);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

static void expect_floats(const csv_table *got, int column, const float *values, size_t count)
{
    assert_int_equal(got->rows, count);
    assert_true(got->present[column]);
    assert_memory_equal(got->bits[column], values, count * sizeof *values);
}

static void test_by_hand(void **state)
{
    (void)state;
    static const char text[] = "\xef\xbb\xbfradius,note,x , mask,wy,\twx\r\n"
                               "1,one,0.5,7,-1,+2\n"
                               "2e0, ,\t-0x1p-3 ,0xFFffFFff,inf,-Infinity\r\n"
                               "3.,\"a\r\",.25,0,1e-60,0.30000001192092896\n"
                               "\n\r\n\n";
    static const float x[] = {0.5f, -0.125f, 0.25f}, radius[] = {1, 2, 3};
    static const float wx[] = {2, -INFINITY, 0.3f}, wy[] = {-1, INFINITY, 0};
    static const uint32_t mask[] = {7, UINT32_MAX, 0};
    csv_table got;
    const csv_way way = whole(sizeof text);
    read_table(text, sizeof text - 1, &way, &got);
    assert_int_equal(got.refused, 0);
    expect_floats(&got, X, x, 3);
    expect_floats(&got, RADIUS, radius, 3);
    expect_floats(&got, WX, wx, 3);
    expect_floats(&got, WY, wy, 3);
    assert_false(got.present[T_MAX]);
    assert_memory_equal(got.bits[MASK], mask, sizeof mask);
    csv_table_free(&got);
    expect_every_way(text, sizeof text - 1);
}

static void test_layouts(void **state)
{
    (void)state;
    static const char *const texts[] = {"x,radius\n1,2\n3,4",
                                        "x,radius",
                                        "x,radius\r\n",
                                        "x,radius\n\n\n",
                                        "x,radius\r\n1,2\r\n3,4\r\n",
                                        "radius,x,t_max\n1,2,inf\n2,3,0\n3,4,-0",
                                        "x,,radius,\n1,,2,\n,,,\n",
                                        "a,x,b,radius,c\n,1,,2,\nq\rq,1,,2,\r\n",
                                        "\"\",\"x\",\"radius\"\n\"1\",1,2\n\"2\",3,4\n", /* as R writes it */
                                        " \"x\"\t, \"a, b\",\"say \"\"x,y\"\"\" ,radius\r\n1,2,3,4\n",
                                        "\"x\",\"radius\"",
                                        "\"x\",\"radius\",\"\r\n1,2,3\n",
                                        "note\"x\",\"x\"y,x,radius,\"\n1,2,3,4,5\n",
                                        "\"\"\"x\"\"\",x,radius,\"x\"\"\"\n1,2,3,4\n",
                                        "x,radius\n1,2\n3,4\n5,6\n7,8\n9,10\n11,12\n13,14\n15,16\n17,18\n19,20\n"};
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        expect_every_way(texts[i], strlen(texts[i]));
}

/* ---- refusals ---------------------------------------------------------------------------------------------------- */

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *text, *message; /* NULL: none */
    } cases[] = {
        {"", ":1: column x: expected a header line that names the columns, got an empty file"},
        {"\nx,radius\n1,2\n", ":1: column x: expected a header line that names the columns, got an empty line"},
        {"x,radius,x\n1,2,3\n", ":1: column x: expected once in the header, got it twice"},
        {"x,radius,\"x\"\n1,2,3\n", ":1: column x: expected once in the header, got it twice"},
        {"\"x,radius\"\n1,2\n", ":1: column x: expected in the header, got 1 column: x,radius; also missing: radius"},
        {"\"x\",\"radius\"\n1,\"2\"\n", ":2: column radius: expected a number, got '\"2\"'"},
        {"x,radius,wy\n", ":1: column wx: expected in the header together with the others of its kind, got 3 columns: "
                          "x, radius, wy"},
        {"x,radius\n1,2\n3\n4,5\n6\n", ":3: column radius: expected a row of 2 fields as in the header, got 1"},
        {"x,radius\n1,2\n3,4,5\n", ":3: column radius: expected a row of 2 fields as in the header, got 3"},
        {"x,radius\n1,2\n\n\r\n3,4\n", ":3: column x: expected a row of 2 fields as in the header, got 0"},
        {"x,radius\n1,2\n\nq\n", ":3: column x: expected a row of 2 fields as in the header, got 0"},
        {"x,radius\n1,2\n3,4\nfour ,5\n6\n7,eight\n", ":4: column x: expected a number, got 'four'"},
        {"x,radius\n1,2\n3,4\n5,\t\n", ":4: column radius: expected a number, got an empty field"},
        {"x,radius\n1,2\n3,4\r", ":3: column radius: expected a number, got '4\r'"},
        {"x,radius\n1,2\n3\r,4\n", ":3: column x: expected a number, got '3\r'"},
        {"x,radius,t_max\n1,2,3\n1,2,-1\n1,2\n", ":3: column t_max: expected a number >= 0 or inf, got '-1'"},
        {"x,radius,t_max\n1,2,nan\n", ":2: column t_max: expected a number >= 0 or inf, got 'nan'"},
        {"x,radius,mask\n1,2,4294967296\n",
         ":2: column mask: expected a whole number from 0 to 4294967295 or 0xffffffff, got '4294967296'"},
        {"x,radius\n1e39,2\n3\n", ":3: column radius: expected a row of 2 fields as in the header, got 1"},
        {"x,radius\n0,1\n1e39,-1e40\ninf,4\n-1e41,5\n",
         ":3: column x: 1e39 is beyond binary32 (3.4e38), which makes the row invalid; 2 rows are so"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        const size_t size = strlen(cases[i].text);
        const csv_way way = whole(size);
        csv_table got;
        read_table(cases[i].text, size, &way, &got);
        if (!strstr(reader_host_said, cases[i].message))
            fail_msg("'%s', not '%s'", reader_host_said, cases[i].message);
        csv_table_free(&got);
        expect_every_way(cases[i].text, size);
    }
    static const char nul[] = "x,note,radius\n1,a,2\n1,b\0,2\n", in_name[] = "x,no\0te,radius\n",
                      in_number[] = "x,radius\n1\0,2\n";
    expect_every_way(nul, sizeof nul - 1);
    expect_every_way(in_name, sizeof in_name - 1);
    expect_every_way(in_number, sizeof in_number - 1);
}

/* Whole numbers of 63 bits, in the forms in which programs write them. */
static void test_whole_numbers(void **state)
{
    (void)state;
    static const char text[] =
        "x,id\n1,0\n2, 9223372036854775807 \n3,1.200000000000000000e+01\r\n4,007\n5,2.5e3\n6,40.0";
    static const uint64_t ids[] = {0, INT64_MAX, 12, 7, 2500, 40};
    static const char *const bad[] = {"-1", "1.5", "9223372036854775808", "0x10", "1e", "nan", "", "1 2"};
    for (size_t k = 0; k < sizeof text + COUNT_OF(bad); k++) {
        char path[32], row[64] = "";
        const size_t part = k < sizeof text ? k + 1 : 100;
        table_column columns[] = {{.name = "x"}, {.name = "id", .kind = TABLE_WHOLE}};
        csv_reader *reader;
        uint64_t rows, from = 0;
        int ends[2], status;
        assert_int_equal(pipe(ends), 0);
        if (k >= sizeof text)
            snprintf(row, sizeof row, "\n7,%s\n", bad[k - sizeof text]);
        assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
        assert_int_equal(write(ends[1], row, strlen(row)), strlen(row));
        close(ends[1]);
        snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
        assert_int_equal(csv_open(&reader, path, columns, 2, &(table_limits){4, 1 + (unsigned)part % 3, part}), 0);
        while ((status = csv_next(reader, 1 + k % 4, &rows)) == EXIT_DONE && rows > 0) {
            assert_memory_equal(table_wholes(&columns[1]), ids + from, (size_t)rows * sizeof *ids);
            from += rows;
        }
        assert_int_equal(status, k < sizeof text ? EXIT_DONE : EXIT_USAGE);
        if (status == EXIT_DONE)
            assert_int_equal(from, COUNT_OF(ids));
        else
            assert_non_null(strstr(reader_host_said,
                                   ":8: column id: expected a whole number from 0 to 92233720368547758"
                                   "07, got "));
        csv_close(reader);
        table_free(columns, 2);
        close(ends[0]);
    }
}

/* Rows behind the last that is asked for may be anything. */
static void test_no_further(void **state)
{
    (void)state;
    static const char text[] = "x,radius\n1,2\n3,4\n5,six\n";
    for (unsigned threads = 1; threads <= 3; threads++)
        for (size_t part = 1; part < sizeof text; part++) {
            char path[32];
            table_column columns[COLUMNS];
            csv_reader *reader;
            uint64_t rows;
            int ends[2];
            set_columns(columns);
            assert_int_equal(pipe(ends), 0);
            assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
            close(ends[1]);
            snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
            assert_int_equal(csv_open(&reader, path, columns, COLUMNS, &(table_limits){4, threads, part}), EXIT_DONE);
            assert_int_equal(csv_next(reader, 2, &rows), EXIT_DONE);
            assert_int_equal(rows, 2);
            assert_true(columns[RADIUS].data[1] == 4.0f);
            assert_int_equal(csv_next(reader, 1, &rows), EXIT_USAGE);
            assert_non_null(strstr(reader_host_said, ":4: column radius: expected a number, got 'six'"));
            csv_close(reader);
            table_free(columns, COLUMNS);
            close(ends[0]);
        }
}

/* From 0 to 1 with the rows, whatever the buffer holds already; of a pipe it is not known. */
static void test_shares(void **state)
{
    (void)state;
    static const char text[] = "x,radius\n1,2\n3,4\n5,6\n7,8\n";
    FILE *file = tmpfile();
    assert_non_null(file);
    fputs(text, file);
    fflush(file);
    char path[32];
    table_column columns[COLUMNS];
    csv_reader *reader;
    uint64_t rows;
    int ends[2];
    set_columns(columns);
    snprintf(path, sizeof path, "/dev/fd/%d", fileno(file));
    assert_int_equal(csv_open(&reader, path, columns, COLUMNS, &(table_limits){1, 2, 100}), EXIT_DONE);
    for (int row = 0; row <= 4; row++) {
        assert_true(csv_share(reader) == (double)(9 + 4 * row) / 25.0);
        assert_int_equal(csv_next(reader, 1, &rows), EXIT_DONE);
    }
    csv_close(reader);
    table_free(columns, COLUMNS);
    fclose(file);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, sizeof text - 1), sizeof text - 1);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    assert_int_equal(csv_open(&reader, path, columns, COLUMNS, &(table_limits){1, 2, 10}), EXIT_DONE);
    assert_true(isnan(csv_share(reader)));
    csv_close(reader);
    table_free(columns, COLUMNS);
    close(ends[0]);
    close(ends[1]);
}

/* The buffer grows for a line, up to a limit that does not depend on the number of threads. */
static void test_long_lines(void **state)
{
    (void)state;
    static const char head[] = "note,x,radius\n,1,2\n", tail[] = ",3,4\n";
    const size_t limit = CSV_LINE_MAX, room = sizeof head + limit + 8;
    char *text = malloc(room);
    assert_non_null(text);
    for (size_t extra = 0; extra < 2; extra++)
        for (unsigned threads = 1; threads <= PARALLEL_MAX; threads += PARALLEL_MAX - 1) {
            const csv_way way = {{8, threads, CSV_PART}, 8, 0};
            const size_t note = limit - (sizeof tail - 1) + extra;
            csv_table got;
            memcpy(text, head, sizeof head - 1);
            memset(text + sizeof head - 1, 'n', note);
            memcpy(text + sizeof head - 1 + note, tail, sizeof tail);
            read_table(text, sizeof head - 1 + note + sizeof tail - 1, &way, &got);
            assert_int_equal(got.refused, extra ? 3 : 0);
            assert_int_equal(got.rows, extra ? 1 : 2);
            if (extra)
                assert_non_null(
                    strstr(reader_host_said, "expected a line of at most 16777216 bytes, got a longer one"));
            csv_table_free(&got);
        }
    free(text);
}

/* ---- random tables ----------------------------------------------------------------------------------------------- */

static uint32_t below(uint64_t *random, uint32_t count)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*random >> 32) * count >> 32);
}

static size_t add_number(char *text, size_t size, uint64_t *random)
{
    static const char *const formats[] = {"%.9g", "%.17g", "%g", "%a", " %.3f", "%+.6e\t"};
    static const char *const words[] = {"inf", "nan", "0x10", "1e39", "-0", "00001", "1e-50", "4294967295"};
    uint32_t bits = below(random, UINT32_MAX);
    float value;
    memcpy(&value, &bits, sizeof value);
    if (below(random, 8) == 0)
        return (size_t)snprintf(text, size, "%s", words[below(random, COUNT_OF(words))]);
    if (below(random, 4) > 0)
        value = (float)((double)bits / 4294967296.0 * 20.0 - 10.0);
    return (size_t)snprintf(text, size, formats[below(random, COUNT_OF(formats))], (double)value);
}

/* A table whose rows are well-formed, but for one in a few tables. */
static size_t random_table(char *text, size_t size, uint64_t *random)
{
    static const char *const headers[] = {"x,radius", "radius,x,note", "wx,x,wy,radius", "n,x,m,radius,mask,t_max"};
    static const char *const ends[] = {"\n", "\r\n"}, *const faults[] = {"", ",", "q", "1,q", "\n\n1,2", "1,2,3"};
    const char *const header = headers[below(random, COUNT_OF(headers))];
    const uint32_t rows = below(random, 40), fault = below(random, 3 * rows + 1);
    size_t used = (size_t)snprintf(text, size, "%s\n", header), fields = 1;
    for (const char *p = header; *p; p++)
        fields += *p == ',';
    for (uint32_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < fields; k++) {
            text[used] = ',';
            used += k > 0;
            if (fields == 6 && k >= 4)
                used += (size_t)snprintf(text + used, size - used, "%u", below(random, UINT32_MAX));
            else
                used += add_number(text + used, size - used, random);
        }
        if (i == fault)
            used += (size_t)snprintf(text + used, size - used, "%s", faults[below(random, COUNT_OF(faults))]);
        used += (size_t)snprintf(text + used, size - used, "%s", ends[below(random, 2)]);
    }
    return used - below(random, 2); /* perhaps without the last newline */
}

static void test_random_tables(void **state)
{
    (void)state;
    enum { ROOM = 40 * 6 * 64 };
    uint64_t random = SEED;
    size_t refused = 0;
    char *text = malloc(ROOM);
    assert_non_null(text);
    const size_t tables = test_effort(TABLES);
    for (size_t i = 0; i < tables; i++) {
        const size_t size = random_table(text, ROOM, &random);
        table_column columns[COLUMNS];
        csv_table expected;
        set_columns(columns);
        csv_oracle_read(text, size, columns, COLUMNS, &expected);
        refused += expected.refused > 0;
        for (int k = 0; k < 20; k++) {
            const csv_way way = {{1 + below(&random, 50), 1 + below(&random, PARALLEL_MAX), 1 + below(&random, 400)},
                                 1 + below(&random, 50),
                                 k % 4 ? 0 : 1 + below(&random, 300)};
            expect(text, size, &way, &expected);
        }
        csv_table_free(&expected);
    }
    free(text);
    test_share("refused tables", refused, tables, 0.01, 0.99);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand),       cmocka_unit_test(test_layouts),
                                       cmocka_unit_test(test_refusals),      cmocka_unit_test(test_no_further),
                                       cmocka_unit_test(test_shares),        cmocka_unit_test(test_long_lines),
                                       cmocka_unit_test(test_whole_numbers), cmocka_unit_test(test_random_tables)};
    reader_host_prints = 0;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
