/* SPDX-License-Identifier: MIT */
/* Drops at given places beside heights that OpenCAMLib found for the same meshes (tests/known/drop_opencamlib.txt): at
 * most 1e-6 above, and lower by no more than OpenCAMLib's own rounding. The exact reference says of each height that it
 * is not below the true one. */
#include <math.h>

#include "tests/support/drop_maps.h"

/* The meshes of the file, in its order, and how many of their places have a height: the others are beside the mesh. */
static const struct {
    const char *name;
    size_t heights;
} meshes[] = {{"waves", 395}, {"waves-small-ball", 280}, {"needles", 375}, {"part", 377}, {"T-junctions", 397}};

enum { LINE = 256 };
static const double above = 1e-6, below = 1e-14, nothing = -10; /* the tip of a place without a height */

typedef struct known_drops {
    char name[LINE];
    scene s;
    float radius;
    size_t count;
    float *x, *y, *height;
    double *tip;
} known_drops;

/* ---- the file ---------------------------------------------------------------------------------------------------- */

/* The next line that is no comment. */
static void next_line(FILE *file, char line[LINE])
{
    do {
        if (fgets(line, LINE, file) == NULL)
            fail_msg("tests/known/drop_opencamlib.txt ends too early");
    } while (line[0] == '#');
}

static known_drops read_drops(FILE *file)
{
    char line[LINE];
    unsigned long vertices = 0, triangles = 0, places = 0;
    known_drops d = {.count = 0};
    next_line(file, line);
    assert_int_equal(sscanf(line, "mesh %255s %lu %lu %f %lu", d.name, &vertices, &triangles, &d.radius, &places), 5);
    d.s = scene_alloc(vertices, triangles);
    d.count = places;
    d.x = test_alloc(places, sizeof *d.x);
    d.y = test_alloc(places, sizeof *d.y);
    d.height = test_alloc(places, sizeof *d.height);
    d.tip = test_alloc(places, sizeof *d.tip);
    for (size_t i = 0; i < vertices; i++) {
        float *p = d.s.vertices + 3 * i;
        next_line(file, line);
        assert_int_equal(sscanf(line, "%f %f %f", p, p + 1, p + 2), 3);
    }
    for (size_t i = 0; i < triangles; i++) {
        uint32_t *corner = d.s.indices + 3 * i;
        next_line(file, line);
        assert_int_equal(sscanf(line, "%u %u %u", corner, corner + 1, corner + 2), 3);
    }
    for (size_t i = 0; i < places; i++) {
        next_line(file, line);
        assert_int_equal(sscanf(line, "%f %f %lf", &d.x[i], &d.y[i], &d.tip[i]), 3);
    }
    return d;
}

static FILE *open_known(void)
{
    char path[1024];
    const char *folder = getenv("CAROM_TEST_DATA");
    snprintf(path, sizeof path, "%s/known/drop_opencamlib.txt", folder && folder[0] ? folder : "tests");
    FILE *file = fopen(path, "r");
    if (file == NULL)
        fail_msg("%s cannot be read", path);
    return file;
}

static void drops_free(known_drops *d)
{
    scene_free(&d->s);
    free(d->x);
    free(d->y);
    free(d->height);
    free(d->tip);
}

/* ---- heights ----------------------------------------------------------------------------------------------------- */

static void drops_ask(carom_context *context, known_drops *d)
{
    carom_mesh *mesh = scene_mesh(context, &d->s);
    const carom_mesh_drop_at_desc desc = {.batch = {.size = sizeof desc, .count = d->count},
                                          .x = {d->x, sizeof *d->x},
                                          .y = {d->y, sizeof *d->y},
                                          .radius = d->radius};
    const carom_mesh_drop_at_result out = {.size = sizeof out, .height = d->height};
    carom_error err;
    test_ok("drops", carom_mesh_drop_at(mesh, &desc, &out, NULL, &err), &err);
    carom_mesh_destroy(mesh);
}

/* Fails unless the reference and OpenCAMLib agree. Returns whether the place has a height. */
static int check_place(const known_drops *d, const ref_mesh *mesh, size_t i)
{
    const ref_mesh_drop_case at = {d->x[i], d->y[i], d->radius, d->height[i]};
    const char *wrong = ref_mesh_drop(mesh, &at);
    const int exists = d->tip[i] != nothing;
    const double theirs = exists ? d->tip[i] + (double)d->radius : -(double)INFINITY,
                 difference = exists ? (double)at.height - theirs : 0;
    if (wrong == NULL && (exists ? !(difference >= -below && difference <= above) : at.height != -INFINITY))
        wrong = "too far from OpenCAMLib's";
    if (wrong != NULL)
        fail_msg("%s, place %zu at %a %a: height %.9g, OpenCAMLib's is %.17g: %s", d->name, i, (double)at.x,
                 (double)at.y, (double)at.height, theirs, wrong);
    return exists;
}

static void test_opencamlib(void **state)
{
    carom_context *context = test_context();
    FILE *file = open_known();
    (void)state;
    for (size_t m = 0; m < COUNT_OF(meshes); m++) {
        known_drops d = read_drops(file);
        size_t heights = 0;
        assert_string_equal(d.name, meshes[m].name);
        drops_ask(context, &d);
        const ref_mesh mesh = oracle_mesh(&d.s);
        for (size_t i = 0; i < d.count; i++)
            heights += (size_t)check_place(&d, &mesh, i);
        assert_int_equal(heights, meshes[m].heights);
        drops_free(&d);
    }
    assert_int_equal(fgetc(file), EOF);
    fclose(file);
    carom_context_destroy(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_opencamlib)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
