/* SPDX-License-Identifier: MIT */
/* carom bake check: random nodes of a file are computed anew, one by one. Three answers must agree with the file: that
 * of its own accuracy, bit for bit; that of exact mode; and the reference's. */
#include "check.h"
#include "part.h"
#include "path.h"

#include "cli/base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Triangles that the reference may look at in all. It takes some microseconds for each. */
enum { REFERENCE_TRIANGLES = 10000000 };

static bake_slab slab_of(bake_node *values)
{
#define ARRAY_OF(name, type, components) &values->name,
    return (bake_slab){{BAKE_EACH_ARRAY(ARRAY_OF)}};
}

typedef struct checked {
    const bake_request *options;
    const char *path;
    int fd;
    bake_plan plan;
    bake_layout layout;
    bake_mesh mesh;
    uint64_t differences, by_reference;
    uint64_t nodes; /* that are checked */
    uint64_t random;
} checked;

/* ---- the file -----------------------------------------------------------------------------------------------------
 */

/* A .npy file says how many nodes there are; the options say where. */
static int plan_from_options(checked *c)
{
    const bake_request *o = c->options;
    bake_options placed = o->bake;
    uint64_t dims[3];
    const bake_kind *kind = bake_npy_read(c->fd, dims);
    if (!kind)
        return cli_refuse(EXIT_USAGE, "%s: does not say how it was made, and is no .npy file of carom bake", c->path);
    if (kind->radius && !(o->bake.given & BAKE_GIVEN_RADIUS))
        return cli_refuse(EXIT_USAGE, "%s: does not say how it was made: --%s R is missing", c->path, kind->radius);
    c->plan = (bake_plan){.kind = kind,
                          .parameters = o->bake.parameters,
                          .arrays = 1u << kind->array,
                          .accuracy = o->common.accuracy,
                          .part = 1,
                          .parts = 1,
                          .format = &bake_format_npy};
    if (!(placed.given & (BAKE_GIVEN_DIMS | BAKE_GIVEN_SPACING))) {
        memcpy(placed.dims, dims, sizeof dims);
        placed.given |= BAKE_GIVEN_DIMS;
        cli_message("%s: does not say how it was made: taken as from --dims %llu,%llu,%llu and the options here",
                    c->path, (unsigned long long)dims[0], (unsigned long long)dims[1], (unsigned long long)dims[2]);
    }
    const int status = bake_plan_place(&c->plan, &placed, c->mesh.lower, c->mesh.upper);
    if (status == EXIT_DONE && memcmp(c->plan.lattice.dims, dims, sizeof dims) != 0)
        return cli_refuse(EXIT_USAGE, "%s: has %llu,%llu,%llu %s; from the options follow %llu,%llu,%llu", c->path,
                          (unsigned long long)dims[0], (unsigned long long)dims[1], (unsigned long long)dims[2],
                          c->plan.kind->unit, (unsigned long long)c->plan.lattice.dims[0],
                          (unsigned long long)c->plan.lattice.dims[1], (unsigned long long)c->plan.lattice.dims[2]);
    return status;
}

static int differs(checked *c, const char *what)
{
    c->differences++;
    cli_message("%s: %s", c->path, what);
    return EXIT_DONE;
}

/* Everything but the answers follows from the plan. */
static int check_frame(checked *c)
{
    struct stat info;
    int status = bake_lay_out(&c->plan, c->path, &c->layout);
    if (status == EXIT_DONE && fstat(c->fd, &info) != 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", c->path, strerror(errno));
    if (status == EXIT_DONE && (uint64_t)info.st_size != c->layout.bytes)
        return cli_refuse(EXIT_WORK, "%s: has %lld bytes, and must have %llu", c->path, (long long)info.st_size,
                          (unsigned long long)c->layout.bytes);
    for (int i = 0; i < c->layout.piece_count && status == EXIT_DONE; i++) {
        const volume_piece *piece = &c->layout.pieces[i];
        unsigned char *bytes = cli_alloc(piece->size, 1);
        if (!bytes)
            return cli_no_memory();
        if (cli_read_at(c->fd, bytes, piece->size, piece->at) != 0 || memcmp(bytes, piece->bytes, piece->size) != 0)
            status = differs(c, "the header is not that of such a volume");
        free(bytes);
    }
    return status;
}

static int read_plan(checked *c)
{
    char text[BAKE_TEXT], mesh[BAKE_NAME];
    int status = EXIT_DONE;
    bake_mesh_name(&c->mesh, mesh);
    const int known = bake_file_plan(c->fd, text, &c->plan);
    if (known && (c->options->bake.given || c->options->common.is_accuracy_given))
        cli_message("%s: says how it was made, so these options are not used", c->path);
    if (!known)
        status = plan_from_options(c);
    else if (strcmp(mesh, c->plan.mesh) != 0)
        status = differs(c, "was baked from another mesh or scene: hash and triangles differ");
    return status == EXIT_DONE ? check_frame(c) : status;
}

/* ---- one node -----------------------------------------------------------------------------------------------------
 */

static int read_node(checked *c, uint64_t slab, uint64_t at, bake_node *out)
{
    const bake_slab to = slab_of(out);
    const size_t distance = bake_stored(&c->plan, BAKE_distance)->size;
    unsigned char bytes[sizeof(float)];
    for (int a = 0; a < BAKE_ARRAYS; a++) {
        const uint64_t place = bake_layout_place(&c->layout, &c->plan, a, slab, at);
        const int is_coded = a == BAKE_distance && c->plan.bits > 0;
        const int error = c->plan.arrays & (1u << a) ? cli_read_at(c->fd, is_coded ? bytes : to.array[a],
                                                                   is_coded ? distance : bake_arrays[a].size, place)
                                                     : 0;
        if (error)
            return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", c->path, strerror(error));
        if (is_coded)
            out->distance = bake_store_value(&c->plan, bytes);
    }
    return EXIT_DONE;
}

/* Arrays that the reference judges, in which a message shows a node. */
static uint32_t judged_arrays(const bake_kind *kind)
{
    return 1u << kind->array | kind->judged;
}

/* Arrays that a node is computed with: all of its kind, but gradients, which a device leaves to the CPU. */
static uint32_t computed_arrays(const bake_kind *kind)
{
    return 1u << kind->array | (kind->more & ~(1u << BAKE_gradient));
}

/* A box of that node alone, with these arrays and those of the file. */
static int compute_node(checked *c, const carom_lattice *one, carom_accuracy accuracy, bake_node *out)
{
    bake_slab to = slab_of(out);
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (((c->plan.arrays | computed_arrays(c->plan.kind)) & (1u << a)) == 0)
            to.array[a] = NULL;
    const bake_question question = {.plan = &c->plan, .accuracy = accuracy, .allow_open = 1, .box = *one};
    carom_stats stats;
    return bake_mesh_ask(&c->mesh, &question, &to, &stats);
}

/* In these arrays, a bit for each. */
static int same_bits(uint32_t arrays, bake_node *a, bake_node *b)
{
    const bake_slab from = slab_of(a), to = slab_of(b);
    for (int i = 0; i < BAKE_ARRAYS; i++)
        if ((arrays & (1u << i)) && memcmp(from.array[i], to.array[i], bake_arrays[i].size) != 0)
            return 0;
    return 1;
}

static void add_value(char text[BAKE_TEXT], const volume_array *row, const void *at)
{
    if (row->type[1] == 'f')
        bake_text_add(text, "%a", (double)*(const float *)at);
    else
        bake_text_add(text, "%d", row->size == 1 ? (int)*(const uint8_t *)at : (int)*(const int32_t *)at);
}

static void add_values(char text[BAKE_TEXT], uint32_t arrays, bake_node *node, int with_names)
{
    const bake_slab from = slab_of(node);
    const char *gap = "";
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (arrays & (1u << a)) {
            bake_text_add(text, "%s%s%s", gap, with_names ? bake_arrays[a].name : "", with_names ? " " : "");
            add_value(text, &bake_arrays[a], from.array[a]);
            gap = ", ";
        }
}

/* The message about two answers that differ; who: has the other one. */
static void report(checked *c, const bake_place *at, const char *who, bake_node *file, bake_node *other)
{
    const bake_kind *kind = c->plan.kind;
    char place[BAKE_TEXT] = "", values[BAKE_TEXT] = "", others[BAKE_TEXT] = "";
    if (c->differences++ > 0)
        return;
    for (int k = 0; k < kind->axes; k++)
        bake_text_add(place, "%s%a", k > 0 ? "," : "", (double)at->p[k]);
    add_values(values, judged_arrays(kind), file, !other->wrong);
    add_values(others, judged_arrays(kind), other, 0);
    if (other->wrong)
        cli_message("%s: %s at %s: exact mode's %s is %s; by the reference %s", c->path, kind->one, place,
                    bake_arrays[kind->array].name, values, other->wrong);
    else
        cli_message("%s: %s %llu at %s: %s; %s: %s", c->path, kind->one, (unsigned long long)at->node, place, values,
                    who, others);
}

static int is_near(const checked *c, const bake_place *at, bake_node *given, bake_node *exact)
{
    const bake_kind *kind = c->plan.kind;
    return kind->is_near ? kind->is_near(at, given, exact) : same_bits(c->plan.arrays, given, exact);
}

static void refer(checked *c, const bake_place *at, bake_node *exact)
{
    bake_node truth = {0};
    if (!c->plan.kind->refer(at, exact, &truth))
        return;
    c->by_reference++;
    if (truth.wrong || !same_bits(judged_arrays(c->plan.kind), exact, &truth))
        report(c, at, "is exact mode's; by the reference", exact, &truth);
}

/* Node `at` of a box, as a box of its own. */
static carom_lattice one_of(carom_lattice box, uint64_t at)
{
    for (int k = 0; k < 3; k++) {
        box.first[k] += at % box.dims[k];
        at /= box.dims[k];
        box.dims[k] = 1;
    }
    return box;
}

static int check_node(checked *c, uint64_t slab, uint64_t at, int with_reference)
{
    carom_lattice box;
    (void)bake_plan_slab(&c->plan, slab, &box);
    const carom_lattice one = one_of(box, at);
    const bake_place place = {.path = c->path,
                              .plan = &c->plan,
                              .mesh = &c->mesh,
                              .node = bake_plan_node(&c->plan, &box, at),
                              .p = {carom_lattice_coordinate(&one, 0, 0), carom_lattice_coordinate(&one, 1, 0),
                                    carom_lattice_coordinate(&one, 2, 0)}};
    bake_node file = {0}, own = {0}, exact = {0};
    int status = read_node(c, slab, at, &file);
    if (status == EXIT_DONE)
        status = compute_node(c, &one, c->plan.accuracy, &own);
    if (status == EXIT_DONE)
        status = compute_node(c, &one, CAROM_ACCURACY_EXACT, &exact);
    if (status != EXIT_DONE)
        return status;
    if (c->plan.bits > 0)
        own.distance = bake_store_round(&c->plan, own.distance);
    if (!same_bits(c->plan.arrays, &file, &own))
        report(c, &place, "computed anew", &file, &own);
    else if (!is_near(c, &place, &file, &exact))
        report(c, &place, "in exact mode", &file, &exact);
    if (with_reference)
        refer(c, &place, &exact);
    return EXIT_DONE;
}

/* ---- all ----------------------------------------------------------------------------------------------------------
 */

static int check_nodes(checked *c)
{
    const bake_plan *plan = &c->plan;
    const uint64_t triangles = c->mesh.data.triangle_count > 0 ? c->mesh.data.triangle_count : 1;
    const uint64_t judged = REFERENCE_TRIANGLES / triangles + 1;
    const uint64_t nodes = bake_plan_nodes_before(plan, plan->end);
    progress shown;
    int status = EXIT_DONE;
    const int is_all = c->options->bake.samples >= nodes;
    c->nodes = is_all ? nodes : c->options->bake.samples;
    progress_begin(&shown, "bake check", c->plan.kind->unit, 0, c->nodes);
    for (uint64_t i = 0; i < c->nodes && status == EXIT_DONE; i++) {
        const uint64_t drawn = bake_draw(&c->random, nodes);
        uint64_t at = is_all ? i : drawn;
        const uint64_t slab = bake_plan_find(plan, &at);
        status = check_node(c, slab, at, (is_all ? drawn : i) < judged);
        progress_show(&shown, i + 1);
    }
    progress_end(&shown);
    return status;
}

static int print_result(const checked *c)
{
    output out;
    const int status = output_open(&out, NULL);
    if (status != EXIT_DONE)
        return status;
    output_format(&out, "%llu of %llu %s, %llu of them by the reference: %llu difference%s\n",
                  (unsigned long long)c->nodes, (unsigned long long)(c->plan.layer * c->plan.depth), c->plan.kind->unit,
                  (unsigned long long)c->by_reference, (unsigned long long)c->differences,
                  c->differences == 1 ? "" : "s");
    return output_close(&out, c->differences > 0 ? EXIT_WORK : EXIT_DONE);
}

static int check_volume(const bake_request *options, int fd)
{
    checked c = {.options = options, .path = options->common.operands[0], .fd = fd, .random = options->seed};
    int status = bake_mesh_read(options, &c.mesh);
    if (status == EXIT_DONE)
        status = read_plan(&c);
    if (status == EXIT_DONE)
        status = bake_mesh_open(options, 1, &c.mesh);
    if (status == EXIT_DONE)
        status = check_nodes(&c);
    if (status == EXIT_DONE)
        status = print_result(&c);
    volume_layout_free(&c.layout);
    bake_mesh_free(&c.mesh);
    return status;
}

int run_bake_check(const void *own)
{
    const bake_request *options = own;
    const char *path = options->common.operands[0];
    char text[BAKE_TEXT];
    if (bake_mesh_named(options) != EXIT_DONE)
        return EXIT_USAGE;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    const int status = (options->bake.paths || path_text(fd, text) ? path_check_run : check_volume)(options, fd);
    close(fd);
    return status;
}

/* A node is computed in two accuracies (check_node). */
static int prepare_for(const bake_request *options, int fd)
{
    char text[BAKE_TEXT];
    uint64_t dims[3];
    bake_plan plan = {0};
    if (options->bake.paths || path_text(fd, text))
        return path_check_prepare(options, fd);
    const bake_kind *kind = bake_file_plan(fd, text, &plan) ? plan.kind : bake_npy_read(fd, dims);
    if (!kind)
        return EXIT_DONE; /* the command says why */
    const uint32_t arrays = computed_arrays(kind);
    const int status = bake_prepare_volume(options, kind, arrays, CAROM_ACCURACY_FAST);
    return status == EXIT_DONE ? bake_prepare_volume(options, kind, arrays, CAROM_ACCURACY_EXACT) : status;
}

int prepare_bake_check(const void *own, uint32_t present)
{
    const bake_request *options = own;
    (void)present;
    const int fd = open(options->common.operands[0], O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return EXIT_USAGE;
    const int status = prepare_for(options, fd);
    close(fd);
    return status;
}
