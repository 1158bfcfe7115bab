/* SPDX-License-Identifier: MIT */
/* The reader of .npy files (cli/table/npy.c): headers in every form that NumPy writes, and every other one refused. */
#include "tests/support/support.h"
#include "tests/support/reader_host.h"

#include "cli/table/npy.h"

#include <unistd.h>

enum { ROOM = 1 << 18 };

static char path[] = "carom-test-npy-XXXXXX";

/* A file with this header and so many bytes of numbers, cut off at `size` bytes if there are more. */
static size_t write_file(int version, const char *header, size_t numbers, size_t size)
{
    static char text[ROOM];
    const size_t length = strlen(header), at = version == 1 ? 10 : 12, all = at + length + numbers;
    memcpy(text, "\x93NUMPY", 6);
    text[6] = (char)version;
    text[7] = 0;
    for (size_t i = 8; i < at; i++)
        text[i] = (char)(length >> (8 * (i - 8)) & 255);
    memcpy(text + at, header, length);
    for (size_t i = 0; i < numbers; i++)
        text[at + length + i] = (char)i;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    const size_t used = size < all ? size : all;
    assert_int_equal(fwrite(text, 1, used, file), used);
    assert_int_equal(fclose(file), 0);
    return all;
}

static int open_file(npy_file *f)
{
    reader_host_said[0] = '\0';
    return npy_open(f, path);
}

static void test_read(void **state)
{
    (void)state;
    static const char *const headers[] = {
        "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }           \n",
        "{\"shape\":(2,3,),\"fortran_order\":False,\"descr\":\"<f4\"}",
        " {\t'shape' : ( 2 , 3 ) ,\n'descr' : '<f4' , 'fortran_order' : False } ",
    };
    for (int version = 1; version <= 3; version++)
        for (size_t i = 0; i < COUNT_OF(headers); i++) {
            npy_file f;
            float numbers[4];
            static const unsigned char expected[] = {8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
            write_file(version, headers[i], 24, SIZE_MAX);
            assert_int_equal(open_file(&f), EXIT_DONE);
            assert_int_equal(f.dimensions, 2);
            assert_int_equal(f.shape[0], 2);
            assert_int_equal(f.shape[1], 3);
            assert_int_equal(f.count, 6);
            assert_int_equal(npy_read(&f, 2, 4, numbers), EXIT_DONE);
            assert_memory_equal(numbers, expected, sizeof expected);
            assert_int_equal(npy_refuse_shape(&f, "[n][4]"), EXIT_USAGE);
            assert_non_null(strstr(reader_host_said, ": shape: expected [n][4], got [2][3]"));
            npy_close(&f);
        }
}

#define ARRAY(shape) "{'descr': '<f4', 'fortran_order': False, 'shape': " shape "}"

static void test_shapes(void **state)
{
    (void)state;
    static const struct {
        const char *header;
        size_t numbers;
        const char *message; /* NULL: none */
    } cases[] = {
        {ARRAY("()"), 4, NULL},
        {ARRAY("(3,)"), 12, NULL},
        {ARRAY("(0, 18446744073709551615, 18446744073709551615)"), 0, NULL},
        {ARRAY("(1, 1, 1, 1, 1, 1, 1, 1)"), 4, NULL},
        {ARRAY("(3L, 1L)"), 12, NULL}, /* of Python 2 */
        {ARRAY("(3L,)"), 12, NULL},
        {ARRAY("(3LL,)"), 12, "header: expected at most 8 whole numbers"},
        {ARRAY("(L,)"), 12, "header: expected at most 8 whole numbers"},
        {ARRAY("(3 L,)"), 12, "header: expected at most 8 whole numbers"},
        {ARRAY("(1, 1, 1, 1, 1, 1, 1, 1, 1)"), 4, "header: expected at most 8 whole numbers below 2^64 as shape"},
        {ARRAY("(18446744073709551616,)"), 4, "header: expected at most 8 whole numbers below 2^64 as shape"},
        {ARRAY("(-1,)"), 4, "header: expected at most 8 whole numbers"},
        {ARRAY("(1 2)"), 8, "header: expected at most 8 whole numbers"},
        {ARRAY("(1, 2"), 8, "header: expected at most 8 whole numbers"},
        {ARRAY("(3)"), 12, "header: expected a tuple as shape, got '(3)'"},
        {ARRAY("3"), 12, "header: expected a tuple as shape"},
        {ARRAY("(4294967296, 4294967296)"), 4,
         ": announces [4294967296][4294967296], which is more than 2^64 bytes, and has 4 behind its header"},
        {ARRAY("(4,)"), 12, ": announces [4], which is 16 bytes, and has 12 behind its header"},
        {ARRAY("(2,)"), 12, ": announces [2], which is 8 bytes, and has 12 behind its header"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        npy_file f;
        write_file(1, cases[i].header, cases[i].numbers, SIZE_MAX);
        assert_int_equal(open_file(&f), cases[i].message ? EXIT_USAGE : EXIT_DONE);
        if (cases[i].message && !strstr(reader_host_said, cases[i].message))
            fail_msg("'%s', not '%s'", reader_host_said, cases[i].message);
        npy_close(&f);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    static const struct {
        const char *header, *message;
    } cases[] = {
        {"", "header: expected a dictionary, got ''"},
        {"[]", "header: expected a dictionary, got '[]'"},
        {"{}", "header: expected the keys descr, fortran_order and shape, got no descr"},
        {"{'descr': '<f4', 'shape': ()}", "got no fortran_order"},
        {"{'descr': '<f4', 'descr': '<f4'}", "header: expected the keys descr, fortran_order and shape, once each"},
        {"{'descr': '<f4', 'more': 1}", "once each, got 'more'"},
        {"{descr: '<f4'}", "header: expected a key and a colon"},
        {"{'descr' '<f4'}", "header: expected a key and a colon"},
        {"{'descr", "header: expected a key and a colon"},
        {"{'descr': '<f4' 'shape': ()}", "header: expected a comma, got ''shape': ()}'"},
        {"{'descr': '<f4', ", "header: expected a key and a colon, got ''"},
        {"{'descr': [('x', '<f4')]}", "header: expected a plain number as descr"},
        {"{'descr': '<f8'}", "expected little-endian float32 ('<f4'), got '<f8', which is float64; convert"},
        {"{'descr': '>f4'}", "got '>f4', which is big-endian float32; convert"},
        {"{'descr': '<i4'}", "got '<i4', which is another type; convert"},
        {"{'fortran_order': True}", "header: expected C order, got Fortran order; convert"},
        {"{'fortran_order': 1}", "header: expected False or True as fortran_order, got '1}'"},
        {ARRAY("()") " x", "header: expected nothing behind the dictionary, got 'x'"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        npy_file f;
        write_file(1, cases[i].header, 4, SIZE_MAX);
        assert_int_equal(open_file(&f), EXIT_USAGE);
        if (!strstr(reader_host_said, cases[i].message))
            fail_msg("'%s', not '%s'", reader_host_said, cases[i].message);
        npy_close(&f);
    }
}

/* As NumPy has them: 1.0, 2.0 and 3.0, of which the last has not been written by Python 2. */
static void test_versions(void **state)
{
    (void)state;
    npy_file f;
    for (int version = 0; version <= 5; version++)
        for (int minor = 0; minor < 256; minor += 1 + minor * 63) {
            write_file(version, ARRAY("(1L,)"), 4, SIZE_MAX);
            FILE *file = fopen(path, "r+b");
            assert_non_null(file);
            assert_int_equal(fseek(file, 7, SEEK_SET), 0);
            assert_int_equal(fputc(minor, file), minor);
            assert_int_equal(fclose(file), 0);
            const int is_known = version >= 1 && version <= 3 && minor == 0;
            assert_int_equal(open_file(&f), is_known && version < 3 ? EXIT_DONE : EXIT_USAGE);
            if (!is_known)
                assert_non_null(strstr(reader_host_said, ": expected version 1.0, 2.0 or 3.0 of the .npy format, got"));
            npy_close(&f);
        }
}

/* A file that ends anywhere, or announces a header beyond what there is. */
static void test_truncated(void **state)
{
    (void)state;
    npy_file f;
    for (int version = 1; version <= 2; version++) {
        const size_t all = write_file(version, ARRAY("(2,)"), 8, SIZE_MAX);
        for (size_t size = 0; size < all; size++) {
            write_file(version, ARRAY("(2,)"), 8, size);
            assert_int_equal(open_file(&f), EXIT_USAGE);
            assert_non_null(
                strstr(reader_host_said, size < all - 8 ? "or ends within its header" : "which is 8 bytes"));
            npy_close(&f);
        }
    }
    write_file(4, ARRAY("()"), 4, SIZE_MAX);
    assert_int_equal(open_file(&f), EXIT_USAGE);
    assert_non_null(strstr(reader_host_said, ": expected version 1.0, 2.0 or 3.0 of the .npy format, got 4.0"));
    npy_close(&f);
    static char large[(1 << 16) + 2];
    memset(large, ' ', sizeof large - 1);
    write_file(2, large, 4, SIZE_MAX);
    assert_int_equal(open_file(&f), EXIT_USAGE);
    assert_non_null(strstr(reader_host_said, ": expected a header of at most 65536 bytes, got 65537"));
    npy_close(&f);
    assert_int_equal(npy_open(&f, "/dev/null"), EXIT_USAGE);
    assert_non_null(strstr(reader_host_said, "/dev/null: is no regular file"));
    npy_close(&f);
    assert_int_equal(npy_open(&f, "/nowhere/a.npy"), EXIT_USAGE);
    assert_non_null(strstr(reader_host_said, "/nowhere/a.npy: cannot be opened"));
    npy_close(&f);
}

/* Rows of named numbers: what a field takes, and where the next one is. */
static void test_named(void **state)
{
    (void)state;
#define ROWS(descr) "{'descr': [" descr "], 'fortran_order': False, 'shape': (2,)}"
    static const struct {
        const char *header;
        size_t size;         /* of a row; 0: refused */
        const char *message; /* or the type of the last field */
    } cases[] = {
        {ROWS("('x', '<f4'), ('', '|V4'), ('n', '<i8')"), 16, "<i8"},
        {ROWS("('a', '|b1'), ('b', '<M8[ns]'), ('c', '<U3'), ('d', '|S5'), ('e', '|V2'), ('x', '<f4')"), 32, "<f4"},
        {ROWS("('v', '<f4', (2, 3)), ('s', '|S0'), ('g', '>f8', (1,))"), 32, "an array of >f8"},
        {ROWS("('v', '<f4', ())"), 4, "an array of <f4"},
        {ROWS("('o', '|O')"), 0, "expected names and types of one size as descr"},
        {ROWS("('o', '<f')"), 0, "expected names and types of one size as descr"},
        {ROWS("('o', '<f4x')"), 0, "expected names and types of one size as descr"},
        {ROWS("('o', '')"), 0, "expected names and types of one size as descr"},
        {ROWS("('o', '|S99999999999999999999')"), 0, "expected names and types of one size as descr"},
        {ROWS("('o', '<f4', (2"), 0, "expected names and types of one size as descr"},
        {ROWS("('o', '<f4', (9999999999, 9999999999))"), 0, "expected names and types of one size as descr"},
        {ROWS("('o', '<f4', (9999999999,))"), 0, "expected rows of at most 1048576 bytes"},
        {ROWS("('o', '|S1048576'), ('p', '|u1')"), 0, "expected rows of at most 1048576 bytes"},
        {ROWS("('o', [('p', '|u1')])"), 0, "expected names and types as descr"},
        {ROWS("('', '|V4')"), 0, "expected a name and a type as descr"},
        {ROWS("('o', '|S0')"), 0, "expected a name and a type as descr"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        npy_file f;
        write_file(1, cases[i].header, 2 * cases[i].size, SIZE_MAX);
        reader_host_said[0] = '\0';
        const int status = npy_open_rows(&f, path);
        const char *said = status == EXIT_DONE ? f.named[f.named_count - 1].type : reader_host_said;
        if (status != (cases[i].size ? EXIT_DONE : EXIT_USAGE) || !strstr(said, cases[i].message))
            fail_msg("%s: '%s', not '%s'", cases[i].header, said, cases[i].message);
        assert_true(status != EXIT_DONE || f.size == cases[i].size);
        npy_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_read),      cmocka_unit_test(test_shapes),
                                       cmocka_unit_test(test_named),     cmocka_unit_test(test_refusals),
                                       cmocka_unit_test(test_truncated), cmocka_unit_test(test_versions)};
    const int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    reader_host_prints = 0;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
