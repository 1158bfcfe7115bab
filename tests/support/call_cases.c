/* SPDX-License-Identifier: MIT */
#include "call_cases.h"

#include <math.h>

enum { SEED = 45, SIDES = 6, GUARD = 64, RECORDS_EACH = 64, WIDTH = 64, IN_BEFORE = 2, IN_ITSELF = 3, BEFORE = 20 };
static const float LIMIT = 4; /* of time, where it must be finite */

scene call_scene(void)
{
    scene s = scene_sphere(SIDES);
    s.masks = random_masks(SEED, s.triangle_count);
    return s;
}

/* ---- choices ----------------------------------------------------------------------------------------------------- */

static int has_form(int number, int form)
{
    const caromi_call_type *type = call_type(number);
    if (form == CALL_BUNDLED)
        return number == CALL_mesh_sweep_any || number == CALL_mesh_overlap_any || number == CALL_mesh_closest;
    if (form == CALL_INDEXED)
        return type->indices != 0 || (type->serves & CAROMI_SERVES_SELECT) != 0;
    if (form == CALL_MOVING)
        return type->unit == CAROMI_UNIT_SPHERE && type->stays;
    int optional = 0;
    for (uint32_t i = 0; i < type->in.count; i++)
        optional |= !type->in.at[i].is_needed;
    return form == CALL_FULL || optional;
}

/* Finds choice *i, or counts it down by all there are. */
static call_choice find_choice(int *i)
{
    for (int accuracy = 0; accuracy < 2; accuracy++)
        for (int number = 0; number < CALL_TYPES; number++)
            for (int which = 0; which <= call_type(number)->has_which; which++)
                for (int form = 0; form < CALL_FORMS; form++)
                    if (has_form(number, form) && (*i)-- == 0)
                        return (call_choice){number, which, (call_form)form, (carom_accuracy)accuracy};
    return (call_choice){.number = -1};
}

int call_choices(void)
{
    int left = 1 << 20;
    (void)find_choice(&left);
    return (1 << 20) - left;
}

call_choice call_choice_at(int i)
{
    return find_choice(&i);
}

int call_is_of_mesh(const caromi_call_type *type)
{
    return !strcmp(type->subject, "mesh");
}

const char *call_case_name(const call_case *c)
{
    static const char *const forms[] = {"", ", bare", ", indexed", ", bundled", ", in motion"};
    static _Thread_local char name[128];
    (void)snprintf(name, sizeof name, "%s%s%s%s", c->type->name, c->choice.which ? " (first)" : "",
                   c->choice.accuracy == CAROM_ACCURACY_EXACT ? ", exact" : "", forms[c->choice.form]);
    return name;
}

carom_batch *call_case_batch(call_case *c)
{
    return (carom_batch *)(void *)c->structure[0];
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

/* An ordinary input. Each member takes its part by its name. */
typedef struct one_input {
    float ball[7]; /* centre, radius, velocity */
    float corner[3][3];
    float t_max, limit;
    uint32_t mask;
} one_input;

/* Ordinary inputs repeat after so many. */
enum { DISTINCT = 512 };

static const one_input *inputs_made(void)
{
    static one_input made[DISTINCT];
    static int is_made;
    if (is_made)
        return made;
    swept_spheres b = swept_spheres_mixed(SEED, DISTINCT);
    scene s = call_scene();
    for (size_t i = 0; i < DISTINCT; i++) {
        one_input *one = &made[i];
        ref_gen g;
        ref_gen_seed(&g, 145, SEED, i);
        for (int c = 0; c < 7; c++)
            one->ball[c] = b.column[c][i];
        scene_triangle(&s, (size_t)ref_gen_int(&g, 0, (int)s.triangle_count - 1), one->corner);
        one->t_max = ref_gen_int(&g, 0, 3) == 0 ? INFINITY : (float)ref_gen_int(&g, 0, 64) / 16.0f;
        one->limit = ref_gen_int(&g, 0, 1) == 0 ? INFINITY : (float)ref_gen_int(&g, 0, 64) / 32.0f;
        one->mask = ref_gen_int(&g, 0, 3) == 0 ? (uint32_t)ref_gen_int(&g, 0, 255) : UINT32_MAX;
    }
    scene_free(&s);
    swept_spheres_free(&b);
    is_made = 1;
    return made;
}

/* Writes a member's element. Fails the test for a name that is new: say here what it means. */
static void put_input(const char *name, const one_input *one, void *out)
{
    float *f = out;
    const float *point = NULL;
    if (!strcmp(name, "center") || !strcmp(name, "a0"))
        point = one->ball;
    else if (!strcmp(name, "velocity") || !strcmp(name, "b1"))
        point = one->ball + 4;
    else if (!strcmp(name, "p0") || !strcmp(name, "b0"))
        point = one->corner[0];
    else if (!strcmp(name, "p1") || !strcmp(name, "triangle_velocity"))
        point = one->corner[1];
    else if (!strcmp(name, "p2"))
        point = one->corner[2];
    if (point != NULL)
        memcpy(f, point, 3 * sizeof *f);
    else if (!strcmp(name, "end") || !strcmp(name, "a1"))
        for (int k = 0; k < 3; k++)
            f[k] = one->ball[k] + one->ball[4 + k];
    else if (!strcmp(name, "radius") || !strcmp(name, "radius_a") || !strcmp(name, "radius_b"))
        *f = one->ball[SPHERE_RADIUS];
    else if (!strcmp(name, "x") || !strcmp(name, "y")) /* of a place */
        *f = one->ball[name[0] - 'x'];
    else if (!strcmp(name, "t_max"))
        *f = one->t_max;
    else if (!strcmp(name, "max_distance"))
        *f = one->limit;
    else if (!strcmp(name, "band"))
        *f = 0.75f;
    else if (!strcmp(name, "flat"))
        memcpy(out, &(double){20.0}, sizeof(double));
    else if (!strcmp(name, "mask") || !strcmp(name, "group"))
        memcpy(out, &one->mask, sizeof one->mask);
    else
        fail_msg("tests/support/call_cases.c has no values for the input %s", name);
}

/* Of ordinary elements all inputs, of the others radii that make them invalid. */
static void fill_input(const call_case *c, const call_array *a, size_t share)
{
    const one_input *made = inputs_made();
    const float invalid = !strncmp(a->name, "radius", 6) ? -1.0f : !strcmp(a->name, "x") ? NAN : 0.0f;
    memset(c->memory + a->offset, 0, a->count * a->element);
    for (size_t i = 0; i < a->count; i++) {
        unsigned char *out = c->memory + a->offset + i * a->element;
        if (i % share != 0) {
            memcpy(out, &invalid, sizeof invalid);
            continue;
        }
        one_input one = made[i / share % DISTINCT];
        if (c->choice.form == CALL_MOVING)
            one.t_max = fminf(one.t_max, LIMIT);
        put_input(a->name, &one, out);
    }
}

/* Indices of pairs and selections, and the pairs of an earlier list. */
static void fill_integers(const call_case *c, const call_array *a, size_t elements)
{
    for (size_t i = 0; i < a->count; i++) {
        unsigned char *out = c->memory + a->offset + i * a->element;
        const uint32_t at = (uint32_t)(a->is_index ? (i * 7 + 3) % elements : i);
        if (a->element == 3)
            memset(out, 0, 3);
        else
            memcpy(out, &at, sizeof at);
    }
}

/* ---- layout ------------------------------------------------------------------------------------------------------ */

static call_array *add(call_case *c, int is_output, call_array a)
{
    call_array *at = is_output ? &c->out[c->out_count++] : &c->in[c->in_count++];
    assert_true(c->in_count <= CALL_ARRAYS_MAX && c->out_count <= CALL_ARRAYS_MAX);
    a.offset = (c->bytes + GUARD + 63) / 64 * 64;
    c->bytes = a.offset + a.count * a.element + GUARD;
    *at = a;
    return at;
}

static size_t size_of(const caromi_member *m)
{
    return m->kind == CAROMI_POINTS || m->kind == CAROMI_POINTS_OUT ? 3 * sizeof(float) : m->size;
}

static size_t extent_of(const call_case *c, int extent, size_t elements, size_t capacity)
{
    return extent == CAROMI_PER_ELEMENT || extent == CAROMI_PER_A || extent == CAROMI_PER_B ? elements
           : extent == CAROMI_PER_NODE   ? (size_t)c->count * c->nodes
           : extent == CAROMI_PER_OFFSET ? (size_t)c->count + 1
           : extent == CAROMI_PER_RECORD ? capacity
           : extent == CAROMI_SINGLE     ? 1
                                         : (size_t)c->count / c->bundle;
}

/* Whether a case has indices or a selection. */
static int is_indexed(call_choice choice)
{
    return choice.form == CALL_INDEXED || choice.form == CALL_BUNDLED;
}

/* Whether a case has this member: a sphere moves by `velocity`, or in the bare form to `end`; a list of overlaps has
 * queries and triangles alone. */
static int has_member(const call_case *c, const caromi_member *m, int is_output)
{
    const int bare = c->choice.form == CALL_BARE;
    if (is_output && !strcmp(m->name, "instance")) /* of scenes alone */
        return 0;
    /* No device has gradients of lattices: the other members are asked there. With the query of a bundle
     * a call is one of bundles, so single queries are asked there without it. */
    if (is_output && !strcmp(m->name, "gradient") && c->choice.number == CALL_mesh_distance)
        return !test_on_device();
    if (is_output && !strcmp(m->name, "query") && c->choice.number == CALL_mesh_closest)
        return !test_on_device() || c->choice.form == CALL_BUNDLED;
    if (is_output)
        return c->choice.number != CALL_mesh_overlap_list || m->extent == CAROMI_PER_OFFSET ||
               !strcmp(m->name, "query") || !strcmp(m->name, "triangle");
    if (!strcmp(m->name, "end"))
        return bare;
    return m->is_needed || !bare;
}

static void lay_out(call_case *c, size_t elements, size_t capacity)
{
    const caromi_call_type *type = c->type;
    for (int side = 0; side < 2; side++) {
        const caromi_members *members = side ? &type->out : &type->in;
        for (uint32_t i = 0; i < members->count; i++) {
            const caromi_member *m = &members->at[i];
            if (has_member(c, m, side))
                add(c, side,
                    (call_array){.name = m->name,
                                 .kind = m->kind,
                                 .extent = m->extent,
                                 .element = size_of(m),
                                 .count = extent_of(c, m->extent, elements, capacity),
                                 .structure = (size_t)side,
                                 .member = m->offset});
        }
    }
    if (type->out_size == 0)
        add(c, 1,
            (call_array){.name = type->out_argument,
                         .kind = CAROMI_ARRAY,
                         .element = type->out_element,
                         .count = (size_t)c->count,
                         .structure = IN_ITSELF});
}

static void add_index(call_case *c, const char *name, size_t count, size_t member)
{
    add(c, 0,
        (call_array){.name = name,
                     .kind = CAROMI_UINTS,
                     .element = sizeof(uint32_t),
                     .count = count,
                     .member = member,
                     .is_index = 1});
}

/* Arrays that are no members: indices, selections, the pairs of an earlier list. */
static void lay_out_others(call_case *c)
{
    const size_t n = (size_t)c->count;
    if (c->choice.form == CALL_INDEXED && c->type->indices != 0) {
        add_index(c, "indices.a", n, c->type->indices + offsetof(carom_pair_indices, a));
        add_index(c, "indices.b", n, c->type->indices + offsetof(carom_pair_indices, b));
    } else if (is_indexed(c->choice)) {
        add_index(c, "select", n, offsetof(carom_batch, select));
    }
    if (c->choice.number != CALL_cloud_list || c->choice.form == CALL_BARE)
        return;
    static const struct {
        const char *name;
        size_t element, member;
    } of_before[] = {{"a of before", 4, offsetof(carom_cloud_pairs_before, a)},
                     {"b of before", 4, offsetof(carom_cloud_pairs_before, b)},
                     {"shift of before", 3, offsetof(carom_cloud_pairs_before, shift)}};
    for (size_t i = 0; i < COUNT_OF(of_before); i++)
        add(c, 0,
            (call_array){.name = of_before[i].name,
                         .kind = CAROMI_ARRAY,
                         .element = of_before[i].element,
                         .count = BEFORE,
                         .structure = IN_BEFORE,
                         .member = of_before[i].member});
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static void set_lattice(call_case *c, size_t count)
{
    const size_t rows = (count + WIDTH * WIDTH - 1) / (WIDTH * WIDTH);
    carom_lattice lattice = {.origin = {-1.5, -1.5, -1.5}, .spacing = 3.0 / WIDTH, .dims = {WIDTH, WIDTH, rows}};
    if (c->type->unit == CAROMI_UNIT_ROW) {
        lattice.spacing /= WIDTH;
        lattice.dims[0] = WIDTH * WIDTH;
        lattice.dims[1] = rows;
        lattice.dims[2] = 1;
    }
    c->count = rows;
    c->nodes = WIDTH * WIDTH;
    memcpy(c->structure[0] + c->type->lattice, &lattice, sizeof lattice);
}

/* Options that are no arrays, where zeros are not what is worth asking. */
static void set_options(call_case *c)
{
    void *desc = c->structure[0];
    const int bare = c->choice.form == CALL_BARE;
    if (c->bundle > 1 && c->choice.number == CALL_mesh_sweep_any)
        ((carom_mesh_sweep_desc *)desc)->bundle = CALL_BUNDLE;
    else if (c->bundle > 1 && c->choice.number == CALL_mesh_overlap_any)
        ((carom_mesh_overlap_desc *)desc)->bundle = CALL_BUNDLE;
    else if (c->bundle > 1)
        ((carom_mesh_closest_desc *)desc)->bundle = CALL_BUNDLE;
    else if (c->choice.number == CALL_mesh_distance && !bare) {
        ((carom_mesh_distance_desc *)desc)->sign = CAROM_SIGN_PARITY;
        ((carom_mesh_distance_desc *)desc)->allow_open = 1; /* masks leave out triangles */
    } else if (c->type->radius != 0) {
        const float radius = 0.25f;
        memcpy((char *)desc + c->type->radius, &radius, sizeof radius);
    } else if (c->choice.number == CALL_mesh_contacts)
        ((carom_mesh_contacts_desc *)desc)->margin = bare ? 0.0f : 0.0625f;
    else if (c->type->unit == CAROMI_UNIT_SPHERE && !bare && c->choice.form != CALL_MOVING)
        ((carom_cloud_desc *)desc)->period[1] = 16.0f;
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

static void *structure_of(call_case *c, const call_array *a)
{
    return a->structure == IN_BEFORE ? (void *)&c->before : c->structure[a->structure];
}

static void point_to(call_case *c, const call_array *a, char *base)
{
    if (a->structure == IN_ITSELF)
        return;
    char *member = (char *)structure_of(c, a) + a->member;
    char *at = (a->kind == CAROMI_NUMBER ? (char *)c->memory : base) + a->offset; /* an option stays in reach */
    if (a->kind == CAROMI_POINTS)
        *(carom_points *)(void *)member = carom_strided((const float *)(void *)at, a->element);
    else if (a->kind == CAROMI_POINTS_OUT)
        *(carom_points_out *)(void *)member = carom_xyz_out((float *)(void *)at);
    else if (a->kind == CAROMI_SCALARS)
        *(carom_scalars *)(void *)member = (carom_scalars){(const float *)(void *)at, a->element};
    else if (a->kind == CAROMI_UINTS)
        *(carom_uints *)(void *)member = (carom_uints){(const uint32_t *)(void *)at, a->element};
    else
        memcpy(member, &at, sizeof at);
}

void call_case_place_apart(call_case *c, void *in, void *out)
{
    c->base = out;
    for (int i = 0; i < c->in_count; i++)
        point_to(c, &c->in[i], in);
    for (int i = 0; i < c->out_count; i++)
        point_to(c, &c->out[i], out);
}

void call_case_place(call_case *c, void *base)
{
    call_case_place_apart(c, base, base);
}

static void set_structures(call_case *c, size_t elements, size_t capacity)
{
    carom_batch *batch = call_case_batch(c);
    *batch = (carom_batch){.size = c->type->desc_size, .count = c->count, .accuracy = c->choice.accuracy};
    if (is_indexed(c->choice) && c->type->indices == 0)
        batch->elements = elements;
    if (c->choice.form == CALL_INDEXED && c->type->indices != 0) {
        carom_pair_indices *x = (carom_pair_indices *)(void *)(c->structure[0] + c->type->indices);
        x->a_count = x->b_count = elements;
    }
    memcpy(c->structure[1], &c->type->out_size, sizeof(size_t));
    if (c->type->totals != 0) {
        const uint64_t room = capacity;
        carom_list_totals *totals = &c->totals;
        memcpy(c->structure[1] + sizeof(size_t), &room, sizeof room);
        memcpy(c->structure[1] + c->type->totals, &totals, sizeof totals);
    }
    c->before = (carom_cloud_pairs_before){.size = sizeof c->before, .count = BEFORE};
    if (c->choice.number == CALL_cloud_list && c->choice.form != CALL_BARE)
        ((carom_cloud_pair_list *)(void *)c->structure[1])->before = &c->before;
}

call_case *call_case_make(call_choice choice, size_t count, size_t share)
{
    call_case *c = test_alloc(1, sizeof *c);
    const size_t elements = is_indexed(choice) ? count + 13 : count;
    c->type = call_type(choice.number);
    c->choice = choice;
    c->nodes = 1;
    c->bundle = choice.form == CALL_BUNDLED ? CALL_BUNDLE : 1;
    c->count = count - count % c->bundle;
    assert_true(c->type->desc_size <= CALL_STRUCTURE_MAX && c->type->out_size <= CALL_STRUCTURE_MAX);
    if (c->type->lattice != 0)
        set_lattice(c, count);
    const size_t capacity = RECORDS_EACH * (count / share + 1);
    lay_out(c, elements, capacity);
    lay_out_others(c);
    set_structures(c, elements, capacity);
    set_options(c);
    c->memory = test_alloc(c->bytes, 1);
    memset(c->memory, CALL_FILL, c->bytes);
    for (int i = 0; i < c->in_count; i++)
        if (c->in[i].structure == IN_BEFORE || c->in[i].is_index)
            fill_integers(c, &c->in[i], elements);
        else
            fill_input(c, &c->in[i], c->in[i].extent == CAROMI_SINGLE ? 1 : share);
    call_case_place(c, c->memory);
    call_case_reset(c);
    return c;
}

void call_case_free(call_case *c)
{
    free(c->memory);
    free(c);
}

void call_case_reset(call_case *c)
{
    for (int i = 0; i < c->out_count; i++)
        memset(c->memory + c->out[i].offset, CALL_FILL, c->out[i].count * c->out[i].element);
    memset(&c->totals, CALL_FILL, sizeof c->totals);
    memset(&c->stats, CALL_FILL, sizeof c->stats);
    c->stats.size = sizeof c->stats;
}

carom_status call_case_ask(call_case *c, carom_context *context, carom_mesh *mesh, carom_error *err)
{
    void *subject = call_is_of_mesh(c->type) ? (void *)mesh : (void *)context;
    const void *out = c->type->out_size == 0 ? (const void *)(c->base + c->out[0].offset) : c->structure[1];
    return c->type->call(subject, c->structure[0], out, c->choice.which, &c->stats, err);
}

call_case *call_case_answer(call_choice choice, size_t count, size_t share, carom_context *context)
{
    call_case *c = call_case_make(choice, count, share);
    scene s = call_scene();
    carom_mesh *mesh = scene_mesh(context, &s);
    carom_error err = {0};
    test_ok(call_case_name(c), call_case_ask(c, context, mesh, &err), &err);
    call_case_check(c, "the answer");
    carom_mesh_destroy(mesh);
    scene_free(&s);
    return c;
}

/* ---- comparing --------------------------------------------------------------------------------------------------- */

static int is_filled(const unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != CALL_FILL)
            return 0;
    return 1;
}

/* The band before an array and the one behind it. */
static void check_bands(const call_case *c, const call_array *a, const char *who)
{
    const size_t bytes = a->count * a->element;
    if (!is_filled(c->memory + a->offset - GUARD, GUARD) || !is_filled(c->memory + a->offset + bytes, GUARD))
        fail_msg("%s, %s: written outside %s", call_case_name(c), who, a->name);
}

void call_case_check(const call_case *c, const char *who)
{
    for (int i = 0; i < c->in_count; i++)
        check_bands(c, &c->in[i], who);
    for (int i = 0; i < c->out_count; i++)
        check_bands(c, &c->out[i], who);
}

void call_case_expect_untouched(const call_case *c, const char *who)
{
    call_case_check(c, who);
    for (int i = 0; i < c->out_count; i++)
        if (!is_filled(c->memory + c->out[i].offset, c->out[i].count * c->out[i].element))
            fail_msg("%s, %s: %s was written", call_case_name(c), who, c->out[i].name);
    if (c->type->totals != 0 && !is_filled((const unsigned char *)&c->totals, sizeof c->totals))
        fail_msg("%s, %s: the totals were written", call_case_name(c), who);
}

static const uint64_t *offsets_of(const call_case *c)
{
    for (int i = 0; i < c->out_count; i++)
        if (c->out[i].extent == CAROMI_PER_OFFSET)
            return (const uint64_t *)(const void *)(c->memory + c->out[i].offset);
    return NULL;
}

static void compare_array(const call_case *expected, const call_case *got, const call_array *a, size_t count,
                          const char *who)
{
    const unsigned char *e = expected->memory + a->offset, *g = got->memory + a->offset;
    for (size_t i = 0; i < count; i++)
        if (memcmp(e + i * a->element, g + i * a->element, a->element) != 0)
            fail_msg("%s, %s: element %zu of %s differs", call_case_name(got), who, i, a->name);
}

void call_case_compare_first(const call_case *expected, const call_case *got, uint64_t done, const char *who)
{
    call_case_check(got, who);
    const uint64_t *offsets = offsets_of(expected);
    for (int i = 0; i < got->out_count; i++) {
        const call_array *a = &got->out[i];
        const size_t count = a->extent == CAROMI_PER_RECORD   ? (size_t)offsets[done]
                             : a->extent == CAROMI_PER_OFFSET ? (size_t)done + 1
                                                              : (size_t)done / got->bundle * got->nodes;
        assert_true(count <= a->count);
        compare_array(expected, got, a, count, who);
    }
}

void call_case_compare(const call_case *expected, const call_case *got, const char *who)
{
    const carom_list_totals *e = &expected->totals, *g = &got->totals;
    if (got->type->totals != 0 && (e->total != g->total || e->stored != g->stored || e->complete != g->complete))
        fail_msg("%s, %s: totals %llu, %llu, %llu instead of %llu, %llu, %llu", call_case_name(got), who,
                 (unsigned long long)g->total, (unsigned long long)g->stored, (unsigned long long)g->complete,
                 (unsigned long long)e->total, (unsigned long long)e->stored, (unsigned long long)e->complete);
    call_case_compare_first(expected, got, got->type->totals != 0 ? e->complete : got->count, who);
}
