/* SPDX-License-Identifier: MIT */
/* Where the formats of carom bake put their arrays (cli/bake), beyond 4 GiB: files with one node of each array in them,
 * and holes for the rest. Oracle: the offsets that follow from each file's own header, and HDF5. */
#include "tests/support/support.h"
#include "tests/support/reader_host.h"

#include "cli/bake/bake.h"
#include "cli/table/hdf5.h"
#include "cli/table/vtk.h"

#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <math.h>
#include <unistd.h>

#ifdef CAROM_HAVE_HDF5
#include <hdf5.h>
#endif

static char path[] = "carom-test-layout-XXXXXX";

/* Commands are not run here. */
int run_bake_volume(const void *options)
{
    (void)options;
    return EXIT_WORK;
}

int prepare_bake_volume(const void *options, uint32_t present)
{
    (void)options, (void)present;
    return EXIT_WORK;
}

static bake_plan plan_of(const bake_kind *kind, const bake_format *format, uint64_t n, uint32_t arrays)
{
    bake_plan plan = {
        .kind = kind,
        .version = "0",
        .lattice = {.origin = {0.5, -1.25, 3.0}, .spacing = 0.125, .dims = {n, n, kind->axes == 3 ? n : 1}},
        .parameters = {.band = INFINITY},
        .arrays = 1u << kind->array | arrays,
        .mesh = "0123456789abcdef of 12 triangles",
        .part = 1,
        .parts = 1,
        .format = format};
    bake_plan_cut(&plan);
    return plan;
}

typedef struct file_form {
    const bake_kind *kind;
    const bake_format *format;
    uint32_t more;
} file_form;

/* Of each kind, in each format that its number of arrays fits: with its own array alone, with the last and with all of
 * those that --with adds. */
enum { FORMATS = 5, FORMS_MAX = 3 * FORMATS * BAKE_KINDS };
static file_form files[FORMS_MAX];
static size_t file_count;

static uint32_t last_of(uint32_t arrays)
{
    while ((arrays & (arrays - 1)) != 0)
        arrays &= arrays - 1;
    return arrays;
}

static void list_files(void)
{
    static const bake_format *const formats[FORMATS] = {&bake_format_npy, &bake_format_nrrd, &bake_format_vti,
                                                        &bake_format_vtkhdf, &bake_format_h5};
    for (int k = 0; k < BAKE_KINDS; k++)
        for (int f = 0; f < FORMATS; f++) {
            const uint32_t all = f < 2 ? 0 : bake_kinds[k]->more, sets[] = {0, last_of(all), all};
            for (size_t i = 0; i < COUNT_OF(sets); i++)
                if (i == 0 || sets[i] != sets[i - 1])
                    files[file_count++] = (file_form){bake_kinds[k], formats[f], sets[i]};
        }
}

static int is_missing(const bake_format *format)
{
    return format->volume->require && !hdf5_version();
}

/* VTK cannot read a line, nor a node. */
static int is_refused(const bake_plan *plan)
{
    return plan->format == &bake_format_vtkhdf && plan->lattice.dims[0] == 1;
}

/* No array reaches into another or into a piece, and the file ends with the last of both. */
static void check_ranges(const bake_plan *plan, const bake_layout *layout)
{
    uint64_t begin[BAKE_ARRAYS + VOLUME_PIECES], end[BAKE_ARRAYS + VOLUME_PIECES], last = 0;
    int count = 0;
    for (int i = 0; i < layout->piece_count; i++) {
        begin[count] = layout->pieces[i].at;
        end[count++] = layout->pieces[i].at + layout->pieces[i].size;
    }
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (plan->arrays & (1u << a)) {
            begin[count] = bake_layout_place(layout, plan, a, 0, 0);
            end[count++] =
                bake_layout_place(layout, plan, a, plan->slabs - 1, bake_plan_nodes(plan, plan->slabs - 1) - 1) +
                bake_arrays[a].size;
            assert_true(end[count - 1] - begin[count - 1] == plan->layer * plan->depth * bake_arrays[a].size);
        }
    for (int i = 0; i < count; i++) {
        for (int j = 0; j < i; j++)
            assert_true(end[i] <= begin[j] || end[j] <= begin[i]);
        last = end[i] > last ? end[i] : last;
    }
    assert_true(layout->bytes == last);
}

static void test_ranges(void **state)
{
    static const uint64_t sizes[] = {1, 2, 3, 7, 100, 2048, 65536};
    (void)state;
    for (size_t i = 0; i < file_count; i++)
        for (size_t k = 0; k < COUNT_OF(sizes); k++) {
            const bake_plan plan = plan_of(files[i].kind, files[i].format, sizes[k], files[i].more);
            bake_layout layout;
            if (is_missing(plan.format))
                continue;
            assert_int_equal(bake_lay_out(&plan, "out", &layout), is_refused(&plan) ? EXIT_USAGE : EXIT_DONE);
            if (!is_refused(&plan))
                check_ranges(&plan, &layout);
            volume_layout_free(&layout);
        }
}

/* ---- the last node of each array, as the file's own header leads to it ------------------------------------------- */

static unsigned char value_of(int a)
{
    return (unsigned char)(0x41 + a);
}

/* Bytes before an array that the header ends with: a blank line, or NumPy's length. */
static uint64_t place_by_header(const bake_plan *plan, const char *head, int a)
{
    char wanted[64];
    if (plan->format == &bake_format_npy)
        return 10 + (uint64_t)(unsigned char)head[8] + 256 * (uint64_t)(unsigned char)head[9];
    if (plan->format == &bake_format_nrrd)
        return (uint64_t)(strstr(head, "\n\n") + 2 - head);
    const char *blanks = strchr(strstr(head, "<AppendedData"), '>') + 1, *appended = strchr(blanks, '_') + 1;
    assert_true(strspn(blanks, " \n") >= 2 * 4096); /* cli/table/vtk.h has the reason */
    snprintf(wanted, sizeof wanted, "Name=\"%s\"", bake_arrays[a].name);
    return (uint64_t)(appended - head) + 8 + strtoull(strstr(strstr(head, wanted), "offset=\"") + 8, NULL, 10);
}

static void check_last_by_header(const bake_plan *plan, int fd, int a)
{
    char head[VTK_TEXT] = "";
    unsigned char bytes[12];
    assert_int_equal(cli_read_at(fd, head, sizeof head - 1, 0), 0);
    const uint64_t at = place_by_header(plan, head, a) + (plan->layer * plan->depth - 1) * bake_arrays[a].size;
    assert_int_equal(cli_read_at(fd, bytes, bake_arrays[a].size, at), 0);
    for (size_t i = 0; i < bake_arrays[a].size; i++)
        assert_int_equal(bytes[i], value_of(a));
}

#ifdef CAROM_HAVE_HDF5
static void check_last_by_hdf5(const bake_plan *plan, int a)
{
    char name[64];
    unsigned char bytes[12];
    hsize_t dims[4], from[4], one[4] = {1, 1, 1, 1};
    snprintf(name, sizeof name, "%s%s", plan->format == &bake_format_h5 ? "/" : "/VTKHDF/PointData/",
             bake_arrays[a].name);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT), array = H5Dopen2(file, name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(array), type = H5Dget_type(array);
    const int axes = H5Sget_simple_extent_dims(space, dims, NULL), many = bake_arrays[a].components > 1;
    assert_int_equal(axes, (plan->format == &bake_format_h5 ? plan->kind->axes : 3) + many);
    for (int k = 0; k < axes; k++)
        from[k] = dims[k] - 1;
    if (many) {
        assert_int_equal(dims[axes - 1], 3);
        from[axes - 1] = 0;
        one[axes - 1] = 3;
    }
    const hsize_t count = H5Tget_size(type) == 1 ? 1 : bake_arrays[a].size / H5Tget_size(type);
    const hid_t memory = H5Screate_simple(1, &count, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, from, NULL, one, NULL) >= 0);
    assert_true(H5Dread(array, type, memory, space, H5P_DEFAULT, bytes) >= 0);
    for (size_t i = 0; i < bake_arrays[a].size; i++)
        assert_int_equal(bytes[i], value_of(a));
    H5Sclose(memory);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(array);
    H5Fclose(file);
}
#else
static void check_last_by_hdf5(const bake_plan *plan, int a)
{
    (void)plan, (void)a;
}
#endif

/* A file of holes with the pieces of the layout and the last node of each array. Returns 0 if the file system has no
 * room for the size. */
static int write_last(const bake_plan *plan, const bake_layout *layout, int fd)
{
    const uint64_t last = bake_plan_nodes(plan, plan->slabs - 1) - 1;
    if (ftruncate(fd, (off_t)layout->bytes) != 0)
        return 0;
    for (int i = 0; i < layout->piece_count; i++)
        assert_int_equal(cli_write_at(fd, layout->pieces[i].bytes, layout->pieces[i].size, layout->pieces[i].at), 0);
    for (int a = 0; a < BAKE_ARRAYS; a++) {
        unsigned char bytes[12];
        memset(bytes, value_of(a), sizeof bytes);
        if (plan->arrays & (1u << a))
            assert_int_equal(
                cli_write_at(fd, bytes, bake_arrays[a].size, bake_layout_place(layout, plan, a, plan->slabs - 1, last)),
                0);
    }
    return 1;
}

static void test_last_node(void **state)
{
    (void)state;
    for (size_t i = 0; i < file_count; i++) {
        const bake_plan plan =
            plan_of(files[i].kind, files[i].format, files[i].kind->axes == 3 ? 2048 : 1 << 17, files[i].more);
        bake_layout layout;
        if (is_missing(plan.format))
            continue;
        assert_int_equal(bake_lay_out(&plan, "out", &layout), EXIT_DONE);
        assert_true(layout.bytes > UINT64_C(1) << 32);
        const int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
        assert_true(fd >= 0);
        const int fits = write_last(&plan, &layout, fd);
        for (int a = 0; fits && a < BAKE_ARRAYS; a++)
            if ((plan.arrays & (1u << a)) && plan.format->volume->require)
                check_last_by_hdf5(&plan, a);
            else if (plan.arrays & (1u << a))
                check_last_by_header(&plan, fd, a);
        close(fd);
        volume_layout_free(&layout);
        if (!fits)
            skip();
    }
}

/* The longest texts that can be fit in front of the arrays. */
static void test_long_texts(void **state)
{
    (void)state;
    for (size_t i = 0; i < file_count; i++) {
        bake_plan plan = plan_of(files[i].kind, files[i].format, 3, files[i].more);
        bake_layout layout;
        if (is_missing(plan.format))
            continue;
        memset(plan.version, 'v', sizeof plan.version - 1);
        memset(plan.mesh, 'm', sizeof plan.mesh - 1);
        plan.lattice = (carom_lattice){
            .origin = {-DBL_MAX, -DBL_MAX, -DBL_MAX}, .spacing = 1.7976931348623155e-305, .dims = {7, 7, 1}};
        plan.parameters.band = plan.parameters.radius = FLT_TRUE_MIN * 3;
        bake_plan_cut(&plan);
        assert_int_equal(bake_lay_out(&plan, "out", &layout), EXIT_DONE);
        check_ranges(&plan, &layout);
        volume_layout_free(&layout);
    }
}

static void test_refused(void **state)
{
    static const bake_format *const int_axes[] = {&bake_format_vti, &bake_format_vtkhdf};
    static const bake_format *const one_array[] = {&bake_format_npy, &bake_format_nrrd};
    bake_layout layout;
    (void)state;
    for (size_t i = 0; i < COUNT_OF(int_axes); i++) {
        bake_plan plan = plan_of(&bake_kind_clearance, int_axes[i], 1, 0);
        if (is_missing(plan.format))
            continue;
        plan.lattice.dims[1] = UINT64_C(1) << 31;
        bake_plan_cut(&plan);
        assert_int_equal(bake_lay_out(&plan, "out", &layout), EXIT_USAGE);
        assert_non_null(strstr(reader_host_said, "at most 2^31 - 1 nodes along an axis, not 2147483648"));
        volume_layout_free(&layout);
    }
    for (size_t i = 0; i < COUNT_OF(one_array); i++) {
        const bake_plan plan = plan_of(&bake_kind_distance, one_array[i], 2, 1u << BAKE_feature);
        assert_int_equal(bake_lay_out(&plan, "out", &layout), EXIT_USAGE);
        assert_non_null(strstr(reader_host_said, "file holds one array, so --with needs another format"));
        volume_layout_free(&layout);
    }
    if (!hdf5_version()) {
        assert_null(bake_format_of("out.h5"));
        assert_non_null(strstr(reader_host_said, "out.h5: this carom was built without HDF5"));
    }
}

/* In the order of the list, and never beyond the room that there is. */
static void test_words(void **state)
{
    char words[256], some[16];
    (void)state;
    const size_t length = bake_kind_words("bake ", ", ", " and ", words, sizeof words);
    assert_int_equal(length, strlen(words));
    const char *at = words;
    for (int i = 0; i < BAKE_KINDS; i++) {
        const char *gap = i == 0 ? "bake " : i < BAKE_KINDS - 1 ? ", bake " : " and bake ";
        assert_memory_equal(at, gap, strlen(gap));
        at += strlen(gap);
        assert_memory_equal(at, bake_kinds[i]->name, strlen(bake_kinds[i]->name));
        at += strlen(bake_kinds[i]->name);
    }
    assert_int_equal(*at, '\0');
    assert_int_equal(bake_kind_words("", "|", "|", some, sizeof some), sizeof some - 1);
    assert_int_equal(strlen(some), sizeof some - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges), cmocka_unit_test(test_long_texts),
                                       cmocka_unit_test(test_last_node), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_words)};
    const int fd = mkstemp(path);
    if (fd < 0)
        return 1;
    close(fd);
    reader_host_prints = 0;
    list_files();
    const int failures = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failures;
}
