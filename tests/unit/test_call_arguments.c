/* SPDX-License-Identifier: MIT */
/* Wrong arguments, of every call with a batch by its type: each is refused with a sentence that names it, and nothing
 * is written. */
#include "tests/support/call_cases.h"

enum { COUNT = 40 };

typedef struct trial {
    carom_context *context;
    carom_mesh *mesh;
    call_case *c;
} trial;

/* The call must fail and say `word`. */
static void expect(const trial *t, const char *word)
{
    carom_error err = {0};
    const carom_status status = call_case_ask(t->c, t->context, t->mesh, &err);
    if (status != CAROM_ERROR_INVALID_ARGUMENT || strstr(err.message, word) == NULL)
        fail_msg("%s: status %d, \"%s\"; expected \"%s\"", call_case_name(t->c), (int)status, err.message, word);
    call_case_expect_untouched(t->c, word);
}

/* Runs `check` for every call in its full form, and in the indexed one. */
static void for_each_call(void (*check)(const trial *t))
{
    scene s = call_scene();
    trial t = {.context = test_cpu(CAROM_ISA_AUTO, 1)};
    t.mesh = scene_mesh(t.context, &s);
    for (int i = 0; i < call_choices(); i++) {
        const call_choice choice = call_choice_at(i);
        if (choice.form == CALL_BARE)
            continue;
        t.c = call_case_make(choice, COUNT, 1);
        check(&t);
        carom_error err = {0}; /* what was wrong has been put right again */
        test_ok(call_case_name(t.c), call_case_ask(t.c, t.context, t.mesh, &err), &err);
        call_case_check(t.c, "in the end");
        call_case_free(t.c);
    }
    carom_mesh_destroy(t.mesh);
    carom_context_destroy(t.context);
    scene_free(&s);
}

/* ---- the arguments themselves ------------------------------------------------------------------------------------ */

static void check_null(const trial *t)
{
    const caromi_call_type *type = t->c->type;
    const void *out = type->out_size == 0 ? (const void *)(t->c->base + t->c->out[0].offset) : t->c->structure[1];
    carom_error err = {0};
    void *subject = call_is_of_mesh(type) ? (void *)t->mesh : (void *)t->context;
    test_error(type->call(NULL, t->c->structure[0], out, 0, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               type->subject);
    test_error(type->call(subject, NULL, out, 0, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err, "desc must not be");
    test_error(type->call(subject, t->c->structure[0], NULL, 0, NULL, &err), CAROM_ERROR_INVALID_ARGUMENT, &err,
               type->out_argument);
    /* Without a place for the sentence the status is the same. */
    assert_int_equal(type->call(subject, NULL, out, 0, NULL, NULL), CAROM_ERROR_INVALID_ARGUMENT);
    call_case_expect_untouched(t->c, "NULL");
}

static void test_null(void **state)
{
    (void)state;
    for_each_call(check_null);
}

static void check_batch(const trial *t)
{
    const caromi_call_type *type = t->c->type;
    carom_batch *batch = call_case_batch(t->c);
    const carom_batch good = *batch;
    batch->size = good.size + 8;
    expect(t, "batch.size is ");
    expect(t, type->desc_name);
    *batch = good;
    batch->accuracy = (carom_accuracy)2;
    expect(t, "batch.accuracy is 2");
    *batch = good;
    batch->prepare = 2;
    expect(t, "batch.prepare is 2");
    *batch = good;
    batch->count = UINT64_C(1) << 48;
    expect(t, "batch.count is ");
    *batch = good;
    batch->begin = good.count + 1;
    expect(t, "batch.begin is ");
    batch->begin = 1;
    if ((type->serves & CAROMI_SERVES_BEGIN) == 0)
        expect(t, "batch.begin is 1");
    *batch = good;
    batch->elements = good.elements + 1;
    if ((type->serves & CAROMI_SERVES_SELECT) == 0)
        expect(t, "batch.select and batch.elements");
    *batch = good;
    t->c->stats.size = 3;
    expect(t, "stats");
    t->c->stats.size = sizeof(carom_stats);
    if (type->totals != 0) {
        memset(t->c->structure[1] + type->totals, 0, sizeof(void *));
        expect(t, "totals");
        memcpy(t->c->structure[1] + type->totals, &(void *){&t->c->totals}, sizeof(void *));
    }
    if (type->out_size == 0)
        return;
    memcpy(t->c->structure[1], &(size_t){3}, sizeof(size_t));
    expect(t, type->out_name);
    memcpy(t->c->structure[1], &type->out_size, sizeof(size_t));
}

static void test_batch(void **state)
{
    (void)state;
    for_each_call(check_batch);
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

/* Bytes of a member: three pointers and a stride, one pointer and a stride, or a pointer. */
static size_t bytes_of(const caromi_member *m)
{
    return m->kind == CAROMI_POINTS || m->kind == CAROMI_POINTS_OUT ? sizeof(carom_points)
           : m->kind == CAROMI_SCALARS || m->kind == CAROMI_UINTS   ? sizeof(carom_uints)
                                                                    : sizeof(void *);
}

/* A result is its size, of a list capacity and totals, and members: a type that leaves out one is seen here. The pairs
 * of an earlier list, `before`, are no member. */
static void test_types(void **state)
{
    (void)state;
    for (int i = 0; i < CALL_TYPES; i++) {
        const caromi_call_type *type = call_type(i);
        size_t known = type->out_size == 0 ? 0 : sizeof(size_t);
        known += type->totals != 0 ? sizeof(uint64_t) + sizeof(void *) : 0;
        known += i == CALL_cloud_list ? sizeof(void *) : 0;
        for (uint32_t k = 0; k < type->out.count; k++)
            known += bytes_of(&type->out.at[k]);
        if (known != type->out_size)
            fail_msg("%s: the members of %s have %zu of its %zu bytes", type->name, type->out_name, known,
                     type->out_size);
        assert_true(strstr(type->name, "carom_") == type->name);
        assert_int_equal(call_is_of_mesh(type), strstr(type->name, "_mesh_") != NULL);
        assert_true(call_is_of_mesh(type) || !strcmp(type->subject, "context"));
    }
}

/* ---- arrays ------------------------------------------------------------------------------------------------------ */

/* Bytes of the pointers that a member has. */
static size_t pointers_of(const caromi_member *m)
{
    return m->kind == CAROMI_POINTS || m->kind == CAROMI_POINTS_OUT ? 3 * sizeof(void *) : sizeof(void *);
}

static void check_member(const trial *t, const caromi_member *m, unsigned char *structure)
{
    unsigned char *at = structure + m->offset;
    const size_t size = pointers_of(m) + (m->kind == CAROMI_NUMBER || m->kind == CAROMI_ARRAY ? 0 : sizeof(size_t));
    unsigned char good[sizeof(carom_points)];
    memcpy(good, at, size);
    if (m->is_needed) {
        memset(at, 0, pointers_of(m));
        expect(t, m->name);
        memcpy(at, good, size);
    }
    if (pointers_of(m) > sizeof(void *)) { /* y alone is missing */
        memset(at + sizeof(void *), 0, sizeof(void *));
        expect(t, m->name);
        memcpy(at, good, size);
    }
    if (size > pointers_of(m)) {
        memcpy(at + pointers_of(m), &(size_t){3}, sizeof(size_t));
        expect(t, m->name);
        memcpy(at, good, size);
    }
}

static int is_given(const call_case *c, const caromi_member *m, int is_output)
{
    const call_array *arrays = is_output ? c->out : c->in;
    for (int i = 0; i < (is_output ? c->out_count : c->in_count); i++)
        if (!strcmp(arrays[i].name, m->name))
            return 1;
    return 0;
}

static void check_views(const trial *t)
{
    for (int side = 0; side < 2; side++) {
        const caromi_members *members = side ? &t->c->type->out : &t->c->type->in;
        for (uint32_t i = 0; i < members->count; i++)
            if (is_given(t->c, &members->at[i], side))
                check_member(t, &members->at[i], t->c->structure[side]);
    }
}

/* What is needed must not be NULL; points have three pointers; a stride is 4 bytes or more. */
static void test_views(void **state)
{
    (void)state;
    for_each_call(check_views);
}

/* Each output over each input, and over each other output. Options and the result of carom_cloud_order have no pointer
 * in the structures that could be moved. */
static void check_overlaps(const trial *t)
{
    call_case *c = t->c;
    for (int i = 0; i < c->out_count && c->type->out_size != 0; i++) {
        const size_t good = c->out[i].offset;
        for (int k = 0; k < c->in_count + c->out_count; k++) {
            const call_array *other = k < c->in_count ? &c->in[k] : &c->out[k - c->in_count];
            if (other == &c->out[i] || other->kind == CAROMI_NUMBER)
                continue;
            for (size_t at = 0; at<other->count; at += other->count> 1 ? other->count - 1 : 1) {
                c->out[i].offset = other->offset + at * other->element; /* over its first element, then its last */
                call_case_place(c, c->memory);
                c->out[i].offset = good;
                expect(t, c->out[i].name);
            }
        }
        call_case_place(c, c->memory);
    }
}

static void test_overlaps(void **state)
{
    (void)state;
    for_each_call(check_overlaps);
}

/* An index beyond the elements is named with its pair or query. */
static void check_index(const trial *t)
{
    call_case *c = t->c;
    if (c->choice.form != CALL_INDEXED)
        return;
    const call_array *index = &c->in[c->in_count - 1];
    const uint32_t wrong = 1 << 20;
    uint32_t *value = (uint32_t *)(void *)(c->memory + index->offset) + 17, good = *value;
    *value = wrong;
    expect(t, "17");
    expect(t, "1048576");
    *value = good;
}

static void test_index(void **state)
{
    (void)state;
    for_each_call(check_index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types), cmocka_unit_test(test_null),     cmocka_unit_test(test_batch),
        cmocka_unit_test(test_views), cmocka_unit_test(test_overlaps), cmocka_unit_test(test_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
