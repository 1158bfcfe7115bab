/* SPDX-License-Identifier: MIT */
/* Bytes that cross between a discrete device and the host when the arrays of a call lie in a buffer: for every call the
 * bytes that docs/devices.md says, by the statistics and by the transfers, and no byte that the call has not written.
 */
#include "tests/support/call_cases.h"
#include "tests/support/cl_shim.h"
#include "kernels/cloud_order.h"

#include <sys/mman.h>

enum { COUNT = 2000, SHARE = 30, MANY = 600000, MANY_SHARE = 2000, MORE = 1 << 21, NUMBERS = 64 };

static carom_context *open_discrete(carom_backend backend)
{
    carom_context_desc desc = test_desc(backend);
    carom_context *context = NULL;
    carom_error err = {0};
    cl_seen_as.discrete = 1;
    (void)test_need_device();
    cl_relieve();
    desc.device_lanes = 1;
    desc.auto_from = UINT64_MAX;
    test_ok("context", carom_context_create(&desc, &context, &err), &err);
    return context;
}

static carom_mesh *mesh_of(carom_context *context)
{
    scene s = call_scene();
    carom_mesh *mesh = scene_mesh(context, &s);
    scene_free(&s);
    return mesh;
}

static carom_buffer *buffer_for(carom_context *context, call_case *c)
{
    const carom_buffer_desc desc = {.size = sizeof desc, .bytes = c->bytes, .where = CAROM_BUFFER_DEVICE};
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(context, &desc, &buffer, &err), &err);
    call_case_place(c, carom_buffer_address(buffer));
    return buffer;
}

/* Fills a buffer with the case's inputs, and with CALL_FILL where the call writes. */
static void fill(carom_buffer *buffer, call_case *c)
{
    carom_error err = {0};
    call_case_reset(c);
    test_ok("write", carom_buffer_write(buffer, 0, c->memory, c->bytes, &err), &err);
}

static void fetch(const carom_buffer *buffer, call_case *c)
{
    carom_error err = {0};
    test_ok("read", carom_buffer_read(buffer, 0, c->memory, c->bytes, &err), &err);
}

static void ask_well(call_case *c, carom_context *context, carom_mesh *mesh)
{
    carom_error err = {0};
    test_ok(call_case_name(c), call_case_ask(c, context, mesh, &err), &err);
}

/* Compares all bytes: answers, inputs, and what the call has to leave alone. */
static void compare_bytes(const call_case *expected, const call_case *got, const char *who)
{
    for (size_t i = 0; i < got->bytes; i++)
        if (expected->memory[i] != got->memory[i])
            fail_msg("%s, %s: byte %zu is %02x, not %02x", call_case_name(got), who, i, got->memory[i],
                     expected->memory[i]);
}

/* ---- the table of docs/devices.md -------------------------------------------------------------------------------- */

/* A call's row: whether its arrays stay, and which of them are brought all the same. */
typedef struct table_row {
    int stays;
    char brought[256];
} table_row;

/* Clouds that a GPU answers by itself: at rest, as those without options are, and in motion. */
static int is_by_gpu(call_choice choice)
{
    const caromi_call_type *type = call_type(choice.number);
    return type->stays && type->unit == CAROMI_UNIT_SPHERE;
}

static int stays(call_choice choice)
{
    return call_type(choice.number)->stays;
}

/* Whether the host learns some numbers of the answer, although the arrays stay. */
static int learns_numbers(call_choice choice)
{
    return is_by_gpu(choice) || choice.number == CALL_mesh_clearance ||
           (stays(choice) && call_type(choice.number)->totals != 0);
}

/* Bytes of these numbers, at most. In motion limits and a sample of the spheres, from which slices of time are chosen,
 * and what a few slices add. Of an order a sample and the number of spheres of each size, from which levels are chosen.
 */
static size_t numbers_most(call_choice choice)
{
    enum { LIMITS = 16, SAMPLE = 1024, EACH = 32, SLICES = 512, ORDER_SAMPLE = 2048, ORDER_EACH = 16 };
    if (choice.number == CALL_cloud_order)
        return NUMBERS + ORDER_SAMPLE * ORDER_EACH + sizeof(grid_measure);
    return NUMBERS + (is_by_gpu(choice) && choice.form != CALL_BARE ? LIMITS + SAMPLE * EACH + SLICES : 0);
}

/* Levels of spheres, that the host has chosen for an order. */
static size_t bytes_of_plan(call_choice choice)
{
    return choice.number == CALL_cloud_order && stays(choice) ? sizeof(order_plan) : 0;
}

/* Of any hits the host learns after each round of bundles how many of them are left; here there is one round. */
static size_t bytes_of_rounds(call_choice choice)
{
    return choice.form == CALL_BUNDLED && choice.number != CALL_mesh_closest ? sizeof(cl_uint) : 0;
}

/* Reads the row that names the call in its first cell. */
static table_row row_of(call_choice choice)
{
    const caromi_call_type *type = call_type(choice.number);
    char path[512], line[1024], name[96];
    table_row row = {.stays = -1};
    (void)snprintf(path, sizeof path, "%s/../docs/devices.md", getenv("CAROM_TEST_DATA"));
    (void)snprintf(name, sizeof name,
                   is_by_gpu(choice)             ? "clouds on a GPU"
                   : choice.form == CALL_BUNDLED ? "| bundles"
                                                 : "`%s`",
                   type->name);
    FILE *page = fopen(path, "r");
    assert_non_null(page);
    while (row.stays < 0 && fgets(line, sizeof line, page) != NULL) {
        char *cells[4] = {line};
        for (int i = 1; i < 4 && cells[i - 1] != NULL; i++)
            if ((cells[i] = strchr(cells[i - 1] + 1, '|')) != NULL)
                *cells[i]++ = '\0';
        if (line[0] != '|' || cells[3] == NULL || strstr(line, name) == NULL)
            continue;
        row.stays = strstr(cells[1], "stay") != NULL;
        (void)snprintf(row.brought, sizeof row.brought, "%s", cells[2]);
    }
    (void)fclose(page);
    if (row.stays < 0)
        fail_msg("docs/devices.md has no row of %s in its table of what crosses", type->name);
    return row;
}

/* An option of one number lies in the program's memory in these cases. */
static size_t bytes_brought(const call_case *c, const table_row *row)
{
    const int is_for_host = strstr(row->brought, "exact mode") == NULL || c->choice.accuracy == CAROM_ACCURACY_EXACT;
    size_t sum = 0;
    for (int i = 0; i < c->in_count; i++) {
        char name[64];
        (void)snprintf(name, sizeof name, "`%.*s`", (int)strcspn(c->in[i].name, "."), c->in[i].name);
        if (c->in[i].kind != CAROMI_NUMBER && (!row->stays || (strstr(row->brought, name) != NULL && is_for_host)))
            sum += c->in[i].count * c->in[i].element;
    }
    return sum;
}

/* A word for each array that the device checks. */
static size_t bytes_of_checks(const call_case *c)
{
    size_t arrays = 0;
    for (int i = 0; i < c->in_count; i++)
        arrays +=
            c->in[i].is_index || strcmp(c->in[i].name, "t_max") == 0 || strcmp(c->in[i].name, "max_distance") == 0;
    return arrays * sizeof(cl_uint);
}

static size_t bytes_returned(const call_case *c, const table_row *row)
{
    size_t sum = 0;
    for (int i = 0; i < c->out_count && !row->stays; i++) {
        const call_array *a = &c->out[i];
        sum += (a->extent == CAROMI_PER_RECORD ? (size_t)c->totals.stored : a->count) * a->element;
    }
    return sum;
}

/* ---- what crosses ------------------------------------------------------------------------------------------------ */

static void expect_bytes(const call_case *c, const char *what, size_t got, size_t expected)
{
    if (got != expected)
        fail_msg("%s: %zu bytes %s, not %zu", call_case_name(c), got, what, expected);
}

/* Arrays in the program's memory cross in the call's own way, and staging copies beside that. */
static void check_crossing(call_choice choice, carom_context *context, carom_mesh *mesh)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    call_case *expected = call_case_answer(choice, COUNT, SHARE, cpu), *c = call_case_make(choice, COUNT, SHARE);
    const table_row row = row_of(choice);
    size_t fetched = 0, sent = 0;
    if (!row.stays) {
        ask_well(c, context, mesh);
        cl_fetched = cl_sent = 0;
        ask_well(c, context, mesh);
        fetched = cl_fetched;
        sent = cl_sent;
    }
    carom_buffer *buffer = buffer_for(context, c);
    for (int again = 0; again < 2; again++) { /* the first call builds programs */
        fill(buffer, c);
        cl_fetched = cl_sent = 0;
        ask_well(c, context, mesh);
    }
    const size_t in = bytes_brought(c, &row), back = bytes_returned(c, &row);
    expect_bytes(c, "are counted as brought", (size_t)c->stats.brought, in);
    expect_bytes(c, "are counted as returned", (size_t)c->stats.returned, back);
    assert_int_equal(row.stays, stays(choice));
    if (!row.stays || choice.accuracy == CAROM_ACCURACY_FAST) {
        const size_t numbers = learns_numbers(choice) ? cl_fetched - in /* of a cloud or a list */
                               : row.stays            ? bytes_of_checks(c) + bytes_of_rounds(choice)
                                                      : fetched;
        expect_bytes(c, "are fetched", cl_fetched - numbers, in);
        if (learns_numbers(choice) && numbers > numbers_most(choice))
            fail_msg("%s: the host learns %zu bytes, more than %zu", call_case_name(c), numbers, numbers_most(choice));
        expect_bytes(c, "are sent", cl_sent - sent, back + bytes_of_plan(choice));
    }
    fetch(buffer, c);
    call_case_compare(expected, c, "in a buffer");
    compare_bytes(expected, c, "in a buffer");
    carom_buffer_destroy(buffer);
    call_case_free(c);
    call_case_free(expected);
    carom_context_destroy(cpu);
}

static void each_call_crosses_as_documented(void **state)
{
    (void)state;
    carom_context *context = open_discrete(CAROM_BACKEND_OPENCL);
    carom_mesh *mesh = mesh_of(context);
    const int has_fp64 = test_need_device().fp64;
    for (int i = 0; i < call_choices(); i++)
        if (has_fp64 || call_choice_at(i).accuracy == CAROM_ACCURACY_FAST)
            check_crossing(call_choice_at(i), context, mesh);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("crossing");
}

/* What the host reads of spheres in motion does not grow with their number. */
static void larger_clouds_cross_no_more(void **state)
{
    enum { TIMES = 50 };
    const call_choice choice = {.number = CALL_cloud_count, .form = CALL_MOVING};
    (void)state;
    carom_context *context = open_discrete(CAROM_BACKEND_OPENCL);
    call_case *c = call_case_make(choice, TIMES * COUNT, TIMES * SHARE);
    carom_buffer *buffer = buffer_for(context, c);
    for (int again = 0; again < 2; again++) { /* the first call builds programs */
        fill(buffer, c);
        cl_fetched = cl_sent = 0;
        ask_well(c, context, NULL);
    }
    assert_int_equal(c->stats.on_device, TIMES * COUNT);
    assert_int_equal(cl_sent, 0);
    if (cl_fetched > numbers_most(choice))
        fail_msg("%d spheres: the host learns %zu bytes, more than %zu", TIMES * COUNT, cl_fetched,
                 numbers_most(choice));
    carom_buffer_destroy(buffer);
    call_case_free(c);
    carom_context_destroy(context);
    cl_expect_none("larger clouds");
}

/* The angle of patches and the band of a volume may lie in a buffer, too. */
static void single_numbers_lie_in_buffers(void **state)
{
    static const double flats[] = {30.0, -1.0};
    static const float bands[] = {0.5f, -1.0f};
    const carom_buffer_desc in_buffer = {.size = sizeof in_buffer, .bytes = 64, .where = CAROM_BUFFER_DEVICE};
    (void)state;
    carom_context *context = open_discrete(CAROM_BACKEND_OPENCL);
    carom_mesh *mesh = mesh_of(context);
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    test_ok("buffer", carom_buffer_create(context, &in_buffer, &buffer, &err), &err);
    for (int i = 0; i < 2; i++) {
        float sphere = 0.25f, distance[8];
        uint32_t patch[64];
        carom_list_totals totals;
        const carom_mesh_contacts_desc contacts = {.batch = {.size = sizeof contacts, .count = 1},
                                                   .center = {&sphere, &sphere, &sphere, CAROM_REPEAT},
                                                   .radius = {&sphere, CAROM_REPEAT},
                                                   .flat = carom_buffer_address(buffer)};
        const carom_contact_list list = {.size = sizeof list, .capacity = 64, .patch = patch, .totals = &totals};
        const carom_mesh_distance_desc volume = {.batch = {.size = sizeof volume, .count = 2},
                                                 .lattice = {.spacing = 1, .dims = {2, 2, 2}},
                                                 .band = carom_buffer_address(buffer)};
        const carom_mesh_distance_result out = {.size = sizeof out, .distance = distance};
        const carom_status expected = i == 0 ? CAROM_OK : CAROM_ERROR_INVALID_ARGUMENT;
        test_ok("write", carom_buffer_write(buffer, 0, &flats[i], sizeof flats[i], &err), &err);
        assert_int_equal(carom_mesh_contacts(mesh, &contacts, &list, NULL, &err), expected);
        test_ok("write", carom_buffer_write(buffer, 0, &bands[i], sizeof bands[i], &err), &err);
        assert_int_equal(carom_mesh_distance(mesh, &volume, &out, NULL, &err), expected);
    }
    carom_buffer_destroy(buffer);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("single numbers");
}

/* ---- lattices ---------------------------------------------------------------------------------------------------- */

/* A device computes the nodes of a lattice and their signs: only answers cross, and no byte where they lie in a
 * buffer. */
static void check_lattice(carom_context *context, carom_mesh *mesh, carom_sign sign)
{
    enum { SIDE = 24, NODES = SIDE * SIDE * SIDE };
    const carom_buffer_desc in_buffer = {
        .size = sizeof in_buffer, .bytes = NODES * sizeof(float), .where = CAROM_BUFFER_DEVICE};
    const carom_mesh_distance_desc desc = {
        .batch = {.size = sizeof desc, .count = SIDE},
        .lattice = {.origin = {-2, -2, -2}, .spacing = 4.0 / SIDE, .dims = {SIDE, SIDE, SIDE}},
        .sign = sign,
        .allow_open = 1};
    carom_buffer *buffer = NULL;
    carom_error err = {0};
    float *host = test_alloc(NODES, sizeof *host), *there = test_alloc(NODES, sizeof *there);
    test_ok("buffer", carom_buffer_create(context, &in_buffer, &buffer, &err), &err);
    for (int stays = 0; stays < 2; stays++)
        for (int again = 0; again < 2; again++) { /* the first call builds programs */
            const carom_mesh_distance_result out = {.size = sizeof out,
                                                    .distance = stays ? carom_buffer_address(buffer) : host};
            carom_stats stats = {.size = sizeof stats};
            cl_fetched = cl_sent = 0;
            test_ok("distances", carom_mesh_distance(mesh, &desc, &out, &stats, &err), &err);
            assert_int_equal(stats.on_device, NODES);
            if (again) {
                assert_int_equal(cl_sent, 0);
                assert_true(stays ? cl_fetched <= NUMBERS : cl_fetched >= NODES * sizeof *host);
                assert_int_equal(stats.returned, 0);
            }
        }
    test_ok("read", carom_buffer_read(buffer, 0, there, NODES * sizeof *there, &err), &err);
    assert_memory_equal(there, host, NODES * sizeof *there);
    free(host);
    free(there);
    carom_buffer_destroy(buffer);
}

static void lattices_send_nothing(void **state)
{
    (void)state;
    carom_context *context = open_discrete(CAROM_BACKEND_OPENCL);
    carom_mesh *mesh = mesh_of(context);
    for (carom_sign sign = CAROM_SIGN_NONE; sign <= CAROM_SIGN_WINDING && test_need_device().fp64; sign++)
        check_lattice(context, mesh, sign);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("lattices");
}

/* ---- parts of outputs -------------------------------------------------------------------------------------------- */

/* Answers of the part [begin, end) of a batch leave all others alone, offsets too. */
static void check_part(call_choice choice, carom_context *context, carom_mesh *mesh)
{
    carom_context *cpu = test_cpu(CAROM_ISA_AUTO, 2);
    carom_mesh *there = mesh_of(cpu);
    call_case *expected = call_case_make(choice, 5 * COUNT, SHARE), *c = call_case_make(choice, 5 * COUNT, SHARE);
    call_case *both[] = {expected, c};
    for (int i = 0; i < 2; i++) {
        call_case_batch(both[i])->begin = both[i]->count / 3;
        if (choice.number == CALL_cloud_list)
            ((carom_cloud_desc *)(void *)both[i]->structure[0])->a_end = both[i]->count / 2;
    }
    ask_well(expected, cpu, there);
    carom_buffer *buffer = buffer_for(context, c);
    fill(buffer, c);
    ask_well(c, context, mesh);
    fetch(buffer, c);
    compare_bytes(expected, c, "a part");
    carom_buffer_destroy(buffer);
    call_case_free(c);
    call_case_free(expected);
    carom_mesh_destroy(there);
    carom_context_destroy(cpu);
}

static void parts_leave_the_rest_alone(void **state)
{
    (void)state;
    carom_context *context = open_discrete(CAROM_BACKEND_OPENCL);
    carom_mesh *mesh = mesh_of(context);
    for (int i = 0; i < call_choices(); i++) {
        const call_choice choice = call_choice_at(i);
        if ((call_type(choice.number)->serves & CAROMI_SERVES_BEGIN) && choice.accuracy == CAROM_ACCURACY_FAST)
            check_part(choice, context, mesh);
    }
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("parts");
}

/* A list that is too short has offsets for all queries. */
static void check_short(call_choice choice, carom_context *context, carom_mesh *mesh)
{
    const size_t count = choice.which == CAROM_HITS_FIRST ? MORE : COUNT; /* more than are answered at a time */
    const uint64_t capacity = 1;
    call_case *expected = call_case_make(choice, count, SHARE), *c = call_case_make(choice, count, SHARE);
    memcpy(expected->structure[1] + sizeof(size_t), &capacity, sizeof capacity);
    memcpy(c->structure[1] + sizeof(size_t), &capacity, sizeof capacity);
    ask_well(expected, context, mesh);
    carom_buffer *buffer = buffer_for(context, c);
    fill(buffer, c);
    ask_well(c, context, mesh);
    if (c->totals.total <= capacity)
        fail_msg("%s: all %llu records fit", call_case_name(c), (unsigned long long)c->totals.total);
    fetch(buffer, c);
    compare_bytes(expected, c, "a short list");
    carom_buffer_destroy(buffer);
    call_case_free(c);
    call_case_free(expected);
}

static void short_lists_have_all_offsets(void **state)
{
    (void)state;
    carom_context *context = open_discrete(CAROM_BACKEND_AUTO);
    carom_mesh *mesh = mesh_of(context);
    for (int number = 0; number < CALL_TYPES; number++)
        for (int which = 0; which <= call_type(number)->has_which; which++)
            if (call_type(number)->totals != 0)
                check_short((call_choice){.number = number, .which = which}, context, mesh);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("short lists");
}

static uint64_t stopped_at;

/* Cancels after so many reports. */
static int stop_after(void *user, uint64_t done, uint64_t count)
{
    int *left = user;
    (void)count;
    stopped_at = done;
    return --*left == 0;
}

static void expect_filled(const call_case *c, const call_array *a, size_t from)
{
    for (size_t i = from * a->element; i < a->count * a->element; i++)
        if (c->memory[a->offset + i] != CALL_FILL)
            fail_msg("%s, cancelled at %llu: byte %zu of %s is written", call_case_name(c),
                     (unsigned long long)stopped_at, i, a->name);
}

/* A call that is cancelled has written what it has answered, and nothing behind. */
static void check_cancelled(call_choice choice, carom_context *context, carom_mesh *mesh)
{
    const size_t count = choice.which == CAROM_HITS_FIRST || choice.number == CALL_mesh_drop ? MORE : MANY;
    call_case *c = call_case_make(choice, count, MANY_SHARE), *expected = call_case_make(choice, count, MANY_SHARE);
    const int is_whole = c->type->unit == CAROMI_UNIT_SPHERE || choice.which == CAROM_HITS_FIRST;
    int left = choice.which == CAROM_HITS_FIRST ? 2 : 1;
    carom_error err = {0};
    ask_well(expected, context, mesh);
    carom_buffer *buffer = buffer_for(context, c);
    fill(buffer, c);
    call_case_batch(c)->progress = (carom_progress){stop_after, &left};
    test_error(call_case_ask(c, context, mesh, &err), CAROM_ERROR_CANCELLED, &err, "cancelled");
    fetch(buffer, c);
    const uint64_t done = c->type->unit == CAROMI_UNIT_SPHERE && stopped_at < c->count ? 0 : stopped_at;
    if (done == c->count && !is_whole)
        fail_msg("%s: the report is the last", call_case_name(c));
    call_case_compare_first(expected, c, done, "cancelled");
    for (int i = 0; i < c->out_count; i++) {
        const call_array *a = &c->out[i];
        expect_filled(c, a,
                      a->extent == CAROMI_PER_RECORD   ? (size_t)c->totals.stored
                      : a->extent == CAROMI_PER_OFFSET ? (size_t)done + 1
                                                       : (size_t)done * c->nodes);
    }
    carom_buffer_destroy(buffer);
    call_case_free(c);
    call_case_free(expected);
}

/* `auto` answers these on the CPU, which reports often. */
static void cancelled_calls_leave_the_rest_alone(void **state)
{
    (void)state;
    carom_context *context = open_discrete(CAROM_BACKEND_AUTO);
    carom_mesh *mesh = mesh_of(context);
    for (int number = 0; number < CALL_TYPES; number++)
        for (int which = 0; which <= call_type(number)->has_which; which++)
            if (!stays((call_choice){.number = number}) && call_type(number)->out_size != 0)
                check_cancelled((call_choice){.number = number, .which = which}, context, mesh);
    carom_mesh_destroy(mesh);
    carom_context_destroy(context);
    cl_expect_none("cancelled");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lattices_send_nothing),
                                       cmocka_unit_test(single_numbers_lie_in_buffers),
                                       cmocka_unit_test(each_call_crosses_as_documented),
                                       cmocka_unit_test(parts_leave_the_rest_alone),
                                       cmocka_unit_test(larger_clouds_cross_no_more),
                                       cmocka_unit_test(short_lists_have_all_offsets),
                                       cmocka_unit_test(cancelled_calls_leave_the_rest_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
