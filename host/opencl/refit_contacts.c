/* SPDX-License-Identifier: MIT */
/* After a refit of a mesh on a device: updates what a search for contacts knows of edges and corners there
 * (kernels/refit_contacts.cl). The tables of triangles at each corner and edge stay as long as the same vertices
 * coincide, which the device checks; the host reads the number of these vertices. */
#include "abilities.h"
#include "refit.h"

#include "host/mesh/edges.h"
#include "mesh_copy.h"

typedef struct contacts_job {
    caromi_device *device;
    carom_mesh *mesh;
    mesh_copy *copy;
    size_t kind; /* of the queries */
} contacts_job;

/* ---- memory ------------------------------------------------------------------------------------------------------ */

/* An array that is uploaded before the first update. */
typedef struct kept_array {
    const char *what;
    const void *data;
    uint64_t bytes;
    cl_mem *out;
} kept_array;

static carom_status keep_arrays(const contacts_job *job, const kept_array *arrays, size_t count, carom_error *err)
{
    for (size_t i = 0; i < count; i++)
        CHECK(caromi_refit_own(job->device, arrays[i].what, arrays[i].data, arrays[i].bytes, arrays[i].out, err));
    return CAROM_OK;
}

static uint32_t entries_of(const carom_mesh *mesh)
{
    uint32_t size = 16;
    while (size < 2 * mesh->vertex_count && size < UINT32_C(1) << 31)
        size *= 2;
    return size;
}

/* Children of all nodes; a mesh of one leaf has no node. */
static uint64_t children_of(const carom_mesh *mesh)
{
    return mesh->info.node_count * MESH_WIDEST;
}

static carom_status make_table(const contacts_job *job, carom_error *err)
{
    const carom_mesh *mesh = job->mesh;
    cl_mem *kept = job->copy->kept;
    const kept_array position = {"positions of a mesh", mesh->corners->position,
                                 mesh->vertex_count * sizeof *mesh->corners->position, &kept[CAROMI_KEPT_POSITION]};
    if (kept[CAROMI_KEPT_ENTRIES] != NULL)
        return CAROM_OK;
    CHECK(keep_arrays(job, &position, 1, err));
    return caromi_make_buffer(job->device, "a table of positions", CL_MEM_READ_WRITE,
                              ((uint64_t)entries_of(mesh) + REFIT_COUNTS) * sizeof(cl_uint), NULL,
                              &kept[CAROMI_KEPT_ENTRIES], err);
}

/* Uploads the host's culling data. It may be older, as the kernels replace what depends on coordinates. */
static carom_status make_culling(const contacts_job *job, carom_error *err)
{
    const carom_mesh *mesh = job->mesh;
    const caromi_culling *c = &mesh->edges->culling[job->kind];
    const uint64_t leaves = mesh->leaf_count, nodes = mesh->info.node_count;
    mesh_copy *copy = job->copy;
    cl_mem *moved = copy->moved[job->kind], *kept = copy->kept;
    const kept_array around = {"triangles around leaves", mesh->edges->around,
                               leaves * CAROMI_AROUND_BYTES(MESH_WIDEST), &kept[CAROMI_KEPT_AROUND]};
    const kept_array arrays[] = {
        {"third corners of a mesh", c->opposites, leaves * CAROMI_OPPOSITES_BYTES(MESH_WIDEST),
         &copy->opposites[job->kind]},
        {"cones of a mesh", c->cones, nodes * CAROMI_CONES_BYTES(MESH_WIDEST), &copy->cones[job->kind]},
        {"vertices of third corners", c->sources, leaves * CAROMI_SOURCES_BYTES(MESH_WIDEST),
         &moved[CAROMI_MOVED_SOURCES]},
        {"triangles across corners", c->across, c->across != NULL ? leaves * CAROMI_ACROSS_BYTES(MESH_WIDEST) : 0,
         &moved[CAROMI_MOVED_ACROSS]},
        {"faces of a mesh", c->faces, mesh->info.triangle_count * sizeof *c->faces, &moved[CAROMI_MOVED_FACES]}};
    if (kept[CAROMI_KEPT_CONES] == NULL) {
        CHECK(keep_arrays(job, &around, 1, err));
        CHECK(caromi_make_buffer(job->device, "cones of a mesh", CL_MEM_READ_WRITE,
                                 (children_of(mesh) + 1) * sizeof(mesh_cone), NULL, &kept[CAROMI_KEPT_CONES], err));
    }
    return moved[CAROMI_MOVED_FACES] != NULL ? CAROM_OK
                                             : keep_arrays(job, arrays, sizeof arrays / sizeof arrays[0], err);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static void set_memory(caromi_arguments *arguments, const cl_mem *memory)
{
    caromi_set_argument(arguments, memory, sizeof *memory);
}

/* Launches a kernel whose work-items share `count` things; the kernel knows their number. */
static carom_status launch(const contacts_job *job, caromi_arguments *arguments, uint64_t count, carom_error *err)
{
    return count > 0 ? caromi_refit_launch(job->device, arguments, count, UINT64_MAX, err) : CAROM_OK;
}

static carom_status clear(const contacts_job *job, uint64_t words, carom_error *err)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_GRID_CLEAR);
    set_memory(&arguments, &job->copy->kept[CAROMI_KEPT_ENTRIES]);
    caromi_set_uint(&arguments, words);
    return launch(job, &arguments, words, err);
}

/* Finds whether the same vertices coincide as before. */
static carom_status check_corners(const contacts_job *job, int *same, carom_error *err)
{
    const uint64_t vertices = job->mesh->vertex_count;
    const uint32_t entries = entries_of(job->mesh);
    caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_REFIT_CORNERS);
    cl_uint kept = 0;
    CHECK(make_table(job, err));
    CHECK(clear(job, (uint64_t)entries + REFIT_COUNTS, err));
    set_memory(&arguments, &job->copy->vertices);
    set_memory(&arguments, &job->copy->kept[CAROMI_KEPT_POSITION]);
    caromi_set_uint(&arguments, vertices);
    set_memory(&arguments, &job->copy->kept[CAROMI_KEPT_ENTRIES]);
    caromi_set_uint(&arguments, entries - 1);
    CHECK(launch(job, &arguments, vertices, err));
    CHECK(caromi_read(job->device, job->device->slots[0].queue, job->copy->kept[CAROMI_KEPT_ENTRIES],
                      REFIT_UNCHANGED * sizeof kept, &kept, sizeof kept, CAROMI_WAIT, NULL, "corners of a mesh", err));
    *same = kept == vertices;
    return CAROM_OK;
}

/* The arguments of REFIT_MESH_PARAMETERS. */
static caromi_arguments begin(const contacts_job *job, uint32_t program)
{
    caromi_arguments arguments = caromi_arguments_of(job->device, program);
    const cl_mem *tables = job->copy->tables;
    set_memory(&arguments, &job->copy->vertices);
    set_memory(&arguments, &job->copy->indices);
    set_memory(&arguments, &tables[CAROMI_TABLE_POSITION]);
    set_memory(&arguments, &tables[CAROMI_TABLE_NEXT]);
    set_memory(&arguments, &tables[CAROMI_TABLE_START]);
    set_memory(&arguments, &tables[CAROMI_TABLE_TRIANGLE]);
    caromi_set_real(&arguments, job->mesh->view.frame.scale);
    return arguments;
}

static carom_status find_faces(const contacts_job *job, carom_error *err)
{
    caromi_arguments arguments = begin(job, CAROMI_PROGRAM_REFIT_FACES);
    set_memory(&arguments, &job->copy->moved[job->kind][CAROMI_MOVED_FACES]);
    caromi_set_uint(&arguments, job->mesh->info.triangle_count);
    return launch(job, &arguments, job->mesh->info.triangle_count, err);
}

/* The cones of nodes, level by level. */
static carom_status join_cones(const contacts_job *job, carom_error *err)
{
    const mesh_copy *copy = job->copy;
    for (uint32_t level = 0; level < copy->level_count; level++) {
        caromi_arguments arguments = caromi_arguments_of(job->device, CAROMI_PROGRAM_REFIT_JOIN);
        const uint32_t count = copy->level_start[level + 1] - copy->level_start[level];
        set_memory(&arguments, &copy->nodes);
        caromi_set_real(&arguments, job->mesh->view.frame.scale);
        set_memory(&arguments, &copy->levels);
        caromi_set_uint(&arguments, copy->level_start[level]);
        set_memory(&arguments, &copy->kept[CAROMI_KEPT_CONES]);
        set_memory(&arguments, &copy->cones[job->kind]);
        caromi_set_uint(&arguments, count);
        CHECK(launch(job, &arguments, (uint64_t)count * MESH_WIDEST, err));
    }
    return CAROM_OK;
}

/* Drops all cones if there are few. */
static carom_status drop_cones(const contacts_job *job, carom_error *err)
{
    const mesh_copy *copy = job->copy;
    const uint64_t children = children_of(job->mesh);
    caromi_arguments count = caromi_arguments_of(job->device, CAROMI_PROGRAM_REFIT_COUNT),
                     drop = caromi_arguments_of(job->device, CAROMI_PROGRAM_REFIT_DROP);
    CHECK(clear(job, REFIT_COUNTS, err));
    set_memory(&count, &copy->nodes);
    set_memory(&count, &copy->cones[job->kind]);
    set_memory(&count, &copy->kept[CAROMI_KEPT_ENTRIES]);
    caromi_set_uint(&count, children);
    CHECK(launch(job, &count, children, err));
    set_memory(&drop, &copy->kept[CAROMI_KEPT_ENTRIES]);
    set_memory(&drop, &copy->cones[job->kind]);
    caromi_set_uint(&drop, children);
    return launch(job, &drop, children, err);
}

static carom_status find_cones(const contacts_job *job, carom_error *err)
{
    const mesh_copy *copy = job->copy;
    const uint64_t children = children_of(job->mesh);
    caromi_arguments arguments = begin(job, CAROMI_PROGRAM_REFIT_CONES);
    set_memory(&arguments, &copy->leaves);
    set_memory(&arguments, &copy->moved[job->kind][CAROMI_MOVED_FACES]);
    set_memory(&arguments, &copy->nodes);
    set_memory(&arguments, &copy->kept[CAROMI_KEPT_AROUND]);
    set_memory(&arguments, &copy->kept[CAROMI_KEPT_CONES]);
    set_memory(&arguments, &copy->cones[job->kind]);
    caromi_set_uint(&arguments, children);
    CHECK(launch(job, &arguments, children, err));
    CHECK(join_cones(job, err));
    return drop_cones(job, err);
}

static carom_status move_opposites(const contacts_job *job, carom_error *err)
{
    const mesh_copy *copy = job->copy;
    const uint64_t children = job->mesh->info.node_count > 0 ? children_of(job->mesh) : 1;
    caromi_arguments arguments = begin(job, CAROMI_PROGRAM_REFIT_OPPOSITES);
    set_memory(&arguments, &copy->leaves);
    set_memory(&arguments, &copy->moved[job->kind][CAROMI_MOVED_FACES]);
    set_memory(&arguments, &copy->nodes);
    caromi_set_int(&arguments, job->mesh->view.frame.root);
    set_memory(&arguments, &copy->moved[job->kind][CAROMI_MOVED_SOURCES]);
    set_memory(&arguments, &copy->opposites[job->kind]);
    set_memory(&arguments, &copy->moved[job->kind][CAROMI_MOVED_ACROSS]);
    caromi_set_int(&arguments, job->mesh->edges->culling[job->kind].across != NULL);
    caromi_set_uint(&arguments, children);
    return launch(job, &arguments, children * MESH_WIDEST, err);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

static carom_status update(const contacts_job *job, carom_error *err)
{
    CHECK(make_culling(job, err));
    CHECK(find_faces(job, err));
    CHECK(find_cones(job, err));
    CHECK(move_opposites(job, err));
    return caromi_finish(job->device, job->device->slots[0].queue, err);
}

carom_status caromi_refit_contacts_run(caromi_device *device, carom_mesh *mesh, int have_masks, int *follows,
                                       carom_error *err)
{
    *follows = 0;
    CHECK(caromi_upload_mesh(device, mesh, err));
    if (!mesh->is_stale && !device->probing) /* the copy was lost, and the host's has been brought */
        return CAROM_OK;
    mesh_copy *copy = mesh->device_copies[device->place];
    const contacts_job job = {device, mesh, copy,
                              (size_t)(caromi_culling_of(mesh->edges, have_masks) - mesh->edges->culling)};
    const unsigned bit = 1u << job.kind;
    CHECK(caromi_upload_tables(device, mesh, NULL, err));
    if (!copy->corners_are_kept)
        CHECK(check_corners(&job, &copy->corners_are_kept, err));
    if (!copy->corners_are_kept) {
        caromi_mesh_copy_forget_edges(copy);
        return CAROM_OK;
    }
    *follows = 1;
    if (copy->opposites[job.kind] != NULL && !(copy->culling_is_old & bit))
        return CAROM_OK;
    copy->culling_is_old |= bit;
    CHECK(update(&job, err));
    copy->culling_is_old &= ~bit;
    return CAROM_OK;
}

carom_status caromi_device_refit_contacts(caromi_device *device, carom_mesh *mesh, int have_masks, int *follows,
                                          carom_error *err)
{
    *follows = 0;
    if (!caromi_has_ability(device, CAROMI_REFITS_CONTACTS))
        return CAROM_OK;
    const carom_status status = caromi_refit_contacts_probe(device, mesh->context, err);
    (void)caromi_gives_up_ability(device, CAROMI_REFITS_CONTACTS, status);
    CHECK(status);
    return caromi_refit_contacts_run(device, mesh, have_masks, follows, err);
}
