/* SPDX-License-Identifier: MIT */
/* Hashes of answers to fixed requests, against tests/bits/golden.txt: the same on every machine, compiler, backend and
 * release. A change that means to change bits writes the file anew and says why in its commit:
 *
 *     CAROM_GOLDEN_WRITE=tests/bits/golden.txt build/tests/test_golden
 *
 * "cases" lines hash the requests themselves: if one of these differs, the generator is to blame, not the library. */
#include "queries/cloud_list.h"
#include "tests/support/closest_answers.h"
#include "tests/support/clouds.h"
#include "tests/support/contact_answers.h"
#include "tests/support/scenes.h"

enum { PAIRS = 2000, SEED = 1, MAX_LINES = 512, MAX_NAME = 64, LINE = 128 };

typedef struct golden_line {
    char name[MAX_NAME];
    unsigned long long hash;
    int used;
} golden_line;

static golden_line lines[MAX_LINES];
static size_t line_count;
static FILE *written; /* CAROM_GOLDEN_WRITE */

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static int read_lines(void)
{
    char path[1024], line[LINE];
    const char *folder = getenv("CAROM_TEST_DATA");
    snprintf(path, sizeof path, "%s/bits/golden.txt", folder && folder[0] ? folder : "tests");
    FILE *file = fopen(path, "r");
    if (!file) {
        print_error("%s: cannot be read; CAROM_TEST_DATA names the folder\n", path);
        return 1;
    }
    while (fgets(line, sizeof line, file) && line_count < MAX_LINES) {
        golden_line *to = &lines[line_count];
        if (line[0] != '#' && sscanf(line, "%63[^:]: %llx", to->name, &to->hash) == 2)
            line_count++;
    }
    fclose(file);
    return 0;
}

static int group_setup(void **state)
{
    const char *path = getenv("CAROM_GOLDEN_WRITE");
    (void)state;
    if (!path || !path[0])
        return read_lines();
    written = fopen(path, "w");
    if (!written) {
        print_error("%s: cannot be written\n", path);
        return 1;
    }
    fprintf(written, "# Hashes of answers; see test_golden.c. Written by CAROM_GOLDEN_WRITE, not by hand.\n");
    return 0;
}

static int group_teardown(void **state)
{
    (void)state;
    if (written && fclose(written)) {
        print_error("the golden file could not be written\n");
        return 1;
    }
    return 0;
}

/* 1 and a message unless the file has this hash under this name. */
static int differs(const char *name, uint64_t hash)
{
    if (written) {
        fprintf(written, "%s: %016llx\n", name, (unsigned long long)hash);
        return 0;
    }
    for (size_t i = 0; i < line_count; i++) {
        if (strcmp(lines[i].name, name))
            continue;
        lines[i].used = 1;
        if (lines[i].hash == hash)
            return 0;
        print_error("%s: %016llx, golden %016llx\n", name, (unsigned long long)hash, lines[i].hash);
        return 1;
    }
    print_error("%s: %016llx, not in the golden file\n", name, (unsigned long long)hash);
    return 1;
}

static void expect_no_difference(int count, const char *what)
{
    if (count > 0)
        fail_msg("%d of the %s hashes differ; if bits were meant to change, write the file anew", count, what);
}

/* ---- pairs ------------------------------------------------------------------------------------------------------- */

static uint64_t hash_queries(const queries *q)
{
    uint64_t hash = HASH_START;
    for (int c = 0; c < query_columns(q->type); c++)
        hash = hash_floats(hash, q->column[c], q->count);
    return hash;
}

static uint64_t hash_answers(const answers *a)
{
    uint64_t hash = HASH_START;
    for (int f = 0; f < query_fields(a->type); f++)
        hash = query_field_bytes(a->type, f) == 1 ? hash_bytes(hash, a->field[f].data, a->count)
                                                  : hash_floats(hash, a->field[f].data, a->count);
    return hash;
}

static void test_cases(void **state)
{
    int different = 0;
    (void)state;
    for (int type = 0; type < QUERY_TYPES; type++)
        for (size_t family = 0; family < ref_family_count() && type != OVERLAP; family++) { /* has the cases of sweep */
            char name[MAX_NAME];
            queries q = queries_family(type, family, SEED, PAIRS);
            snprintf(name, sizeof name, "cases %s %s", query_name(type), ref_family_name(family));
            different += differs(name, hash_queries(&q));
            queries_free(&q);
        }
    expect_no_difference(different, "case");
}

static void test_pairs(void **state)
{
    int type = *(const int *)*state, different = 0;
    carom_context *context = test_context();
    for (size_t family = 0; family < ref_family_count(); family++) {
        char name[MAX_NAME];
        queries q = queries_family(type, family, SEED, PAIRS);
        answers a = answers_alloc(type, PAIRS, 0xa5);
        ask(context, &q, &a, ALL_FIELDS);
        snprintf(name, sizeof name, "%s %s", query_name(type), ref_family_name(family));
        different += differs(name, hash_answers(&a));
        answers_free(&a);
        queries_free(&q);
    }
    carom_context_destroy(context);
    expect_no_difference(different, query_name(type));
}

/* ---- meshes ------------------------------------------------------------------------------------------------------ */

static uint64_t hash_scene(const scene *s, const swept_spheres *b)
{
    uint64_t hash = hash_floats(HASH_START, s->vertices, 3 * s->vertex_count);
    for (size_t i = 0; i < 3 * s->triangle_count; i++) {
        unsigned char bytes[4] = {(unsigned char)s->indices[i], (unsigned char)(s->indices[i] >> 8),
                                  (unsigned char)(s->indices[i] >> 16), (unsigned char)(s->indices[i] >> 24)};
        hash = hash_bytes(hash, bytes, sizeof bytes);
    }
    for (int c = 0; c < SPHERE_COLUMNS; c++)
        hash = hash_floats(hash, b->column[c], b->count);
    return hash;
}

static uint64_t hash_hits(const hits *h)
{
    uint64_t hash = hash_bytes(HASH_START, h->field[HIT_STATE].data, h->count);
    hash = hash_bytes(hash, h->field[HIT_FEATURE].data, h->count);
    hash =
        hash_floats(hash, h->field[HIT_TRIANGLE].data, h->count); /* an index has no NaN's bits: -1 is hashed as one */
    for (int f = HIT_T; f <= HIT_NZ; f++)
        hash = hash_floats(hash, h->field[f].data, h->count);
    return hash;
}

static uint64_t hash_closest_results(const closest_results *n)
{
    uint64_t hash = hash_bytes(HASH_START, n->field[NEAR_FEATURE].data, n->count);
    for (int f = 0; f < NEAR_FIELDS; f++)
        hash = f == NEAR_FEATURE ? hash : hash_floats(hash, n->field[f].data, n->count);
    return hash;
}

static int check_closest(carom_context *context, const char *what, const scene *s, const swept_spheres *b)
{
    char name[MAX_NAME];
    int different = 0;
    for (int exact = 0; exact < 2; exact++) {
        closest_results n = ask_scene(context, s, b, (carom_accuracy)exact, NULL);
        snprintf(name, sizeof name, "closest%s %s", exact ? " exact" : "", what);
        different += differs(name, hash_closest_results(&n));
        closest_results_free(&n);
    }
    return different;
}

static uint64_t hash_contacts(const contact_answers *a)
{
    uint64_t hash = hash_bytes(HASH_START, a->feature, a->count);
    hash = hash_floats(hash, a->triangle, a->count); /* small integers, as above */
    hash = hash_floats(hash, a->patch, a->count);
    hash = hash_floats(hash, a->distance, a->count);
    hash = hash_floats(hash, a->depth, a->count);
    hash = hash_floats(hash, a->point, 3 * a->count);
    return hash_floats(hash, a->normal, 3 * a->count);
}

static int check_contacts(carom_context *context, const char *what, const scene *s, const swept_spheres *b)
{
    char name[MAX_NAME];
    int different = 0;
    for (int exact = 0; exact < 2; exact++) {
        const contact_call call = {.accuracy = (carom_accuracy)exact, .margin = 0.125f, .merge_within = 1e-4f};
        contact_answers a = ask_scene_contacts(context, s, b, &call);
        snprintf(name, sizeof name, "contacts%s %s", exact ? " exact" : "", what);
        different += differs(name, hash_contacts(&a));
        contact_answers_free(&a);
    }
    return different;
}

/* First hits of the same spheres with end positions, which makes `b` of them. */
static int check_ends(carom_context *context, const char *what, const scene *s, swept_spheres *b)
{
    char name[MAX_NAME];
    int different = 0;
    carom_mesh *mesh = scene_mesh(context, s);
    swept_spheres_end(b);
    for (int exact = 0; exact < 2; exact++) {
        hits h = sweep_as(mesh, b, (carom_accuracy)exact);
        snprintf(name, sizeof name, "ends%s %s", exact ? " exact" : "", what);
        different += differs(name, hash_hits(&h));
        hits_free(&h);
    }
    carom_mesh_destroy(mesh);
    return different;
}

static int check_scene(carom_context *context, const char *what, scene s)
{
    char name[MAX_NAME];
    swept_spheres b = swept_spheres_mixed(SEED, PAIRS);
    hits h = sweep_scene(context, &s, &b);
    snprintf(name, sizeof name, "cases mesh %s", what);
    int different = differs(name, hash_scene(&s, &b));
    snprintf(name, sizeof name, "mesh %s", what);
    different += differs(name, hash_hits(&h)) + check_closest(context, what, &s, &b);
    different += check_contacts(context, what, &s, &b);
    different += check_ends(context, what, &s, &b);
    hits_free(&h);
    swept_spheres_free(&b);
    scene_free(&s);
    return different;
}

static void test_meshes(void **state)
{
    carom_context *context = test_context();
    int different = 0;
    (void)state;
    different += check_scene(context, "sphere", scene_sphere(12));
    different += check_scene(context, "soup of large triangles", scene_soup(SEED, 300, 0.8));
    different += check_scene(context, "soup of small triangles", scene_soup(SEED, 3000, 0.05));
    carom_context_destroy(context);
    expect_no_difference(different, "mesh");
}

/* ---- clouds ------------------------------------------------------------------------------------------------------ */

enum { CLOUD_ROOM = 1 << 16, CLOUD_OPTIONS = 12, COLUMNS_MOST = 16 };

/* Columns that share a hash, in the order in which it takes them. */
static const char *const first_columns[] = {"a", "b", "state", "shift", "t", "depth", "normal"};

static int is_first_column(const char *name)
{
    int is_first = 0;
    for (size_t i = 0; i < COUNT_OF(first_columns); i++)
        is_first |= !strcmp(name, first_columns[i]);
    return is_first;
}

static uint64_t hash_column(const carom_cloud_pair_list *list, const char *name, size_t count, uint64_t hash)
{
    int c = 0;
    while (strcmp(query_list_name(c), name) != 0)
        assert_true(++c < query_list_columns());
    const size_t bytes = query_list_element(c);
    const void *at = query_list_column(list, c);
    return bytes % 4 ? hash_bytes(hash, at, bytes * count) : hash_floats(hash, at, bytes / 4 * count);
}

/* Of the first columns into one hash, of each further one but `previous`, which follows from an earlier list, into one
 * of its own. */
static void hash_cloud(carom_context *context, const cloud *c, uint64_t *together, uint64_t own[])
{
    carom_list_totals totals;
    carom_error err;
    carom_cloud_pair_list list = {.size = sizeof list, .capacity = CLOUD_ROOM, .totals = &totals};
    void *memory = test_alloc(query_list_lay_out(&list, c->count, NULL), 1);
    (void)query_list_lay_out(&list, c->count, memory);
    test_ok("pairs of a cloud", carom_cloud_list(context, &c->desc, &list, NULL, &err), &err);
    assert_int_equal(totals.total, totals.stored);
    assert_true(query_list_columns() <= COLUMNS_MOST);
    for (size_t i = 0; i < COUNT_OF(first_columns); i++)
        *together = hash_column(&list, first_columns[i], (size_t)totals.stored, *together);
    for (int i = 0; i < query_list_columns(); i++)
        own[i] = hash_column(&list, query_list_name(i), (size_t)totals.stored, own[i]);
    free(memory);
}

/* Each family with a dozen sets of options, but for the one that is made with a function of the C library. */
static void test_clouds(void **state)
{
    carom_context *context = test_context();
    int different = 0;
    (void)state;
    for (size_t family = 0; family < CLOUD_FAMILIES; family++)
        for (int exact = 0; exact < 2 && strcmp(cloud_family(family), "any size") != 0; exact++) {
            char name[MAX_NAME];
            uint64_t hash = HASH_START, own[COLUMNS_MOST];
            for (int i = 0; i < COLUMNS_MOST; i++)
                own[i] = HASH_START;
            for (size_t options = 0; options < CLOUD_OPTIONS; options++) {
                cloud c = make_cloud(family + options * CLOUD_FAMILIES, exact);
                hash_cloud(context, &c, &hash, own);
                cloud_free(&c);
            }
            (void)snprintf(name, sizeof name, "cloud%s %s", exact ? " exact" : "", cloud_family(family));
            different += differs(name, hash);
            for (int i = 0; i < query_list_columns(); i++) {
                const char *column = query_list_name(i);
                if (is_first_column(column) || !strcmp(column, "previous"))
                    continue;
                (void)snprintf(name, sizeof name, "cloud %s%s %s", column, exact ? " exact" : "", cloud_family(family));
                different += differs(name, own[i]);
            }
        }
    carom_context_destroy(context);
    expect_no_difference(different, "cloud");
}

/* A line that nothing asks for is a test that was lost. */
static void test_every_line_is_used(void **state)
{
    int unused = 0;
    (void)state;
    carom_context_destroy(test_context()); /* without a device nothing was asked */
    for (size_t i = 0; i < line_count; i++)
        if (!lines[i].used) {
            print_error("%s: in the golden file, but not asked for\n", lines[i].name);
            unused++;
        }
    assert_int_equal(unused, 0);
}

int main(void)
{
#define OF_QUERY(name, command) {#name, test_pairs, NULL, NULL, &each_query[QUERY_##name]},
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        QUERY_PAIRS(OF_QUERY) cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_clouds),
        cmocka_unit_test(test_every_line_is_used),
    };
    return cmocka_run_group_tests(tests, group_setup, group_teardown);
}
