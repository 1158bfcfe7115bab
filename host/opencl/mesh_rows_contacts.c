/* SPDX-License-Identifier: MIT */
/* Contacts of a list whose arrays stay on the device: copies the mesh's tables, and launches the kernels that choose
 * contacts among the candidates (kernels/contact_rows.cl). */
#include "host/mesh/corners.h"
#include "mesh_copy.h"
#include "mesh_rows.h"

/* Candidates of a launch, which bounds its time. */
enum { CHOSEN = 1 << 16, MERGED = 1 << 14 };
enum { FEW = 2 }; /* steps of decisions in a probe, so that the host has to choose some contacts */

/* ---- tables ------------------------------------------------------------------------------------------------------ */

/* Other patches replace the ones that were copied. */
static carom_status upload_patches(caromi_device *device, carom_mesh *mesh, mesh_copy *copy,
                                   const caromi_contacts *contacts, carom_error *err)
{
    cl_mem *to = &copy->tables[CAROMI_TABLE_PATCH];
    const mesh_array patches = {"patches of a mesh", contacts->patches.of, mesh->info.triangle_count,
                                sizeof *contacts->patches.of, to};
    if (copy->patches != contacts->patches.serial)
        caromi_release_buffer(to);
    copy->patches = contacts->patches.serial;
    return *to == NULL ? caromi_copy_array(device, &patches, err) : CAROM_OK;
}

carom_status caromi_upload_tables(caromi_device *device, carom_mesh *mesh, const caromi_contacts *contacts,
                                  carom_error *err)
{
    mesh_copy *copy = mesh->device_copies[device->place];
    cl_mem *to = copy->tables;
    const caromi_edges *edges = mesh->edges;
    const caromi_corners *corners = edges->corners;
    const uint64_t triangles = mesh->info.triangle_count;
    const mesh_array arrays[] = {
        {"positions of a mesh's corners", edges->position, 3 * triangles, WORD, &to[CAROMI_TABLE_POSITION]},
        {"edges of a mesh", edges->next, 3 * triangles, WORD, &to[CAROMI_TABLE_NEXT]},
        {"twins of a mesh", edges->twins, (triangles + 7) / 8, 1, &to[CAROMI_TABLE_TWINS]},
        {"twins of a mesh", edges->twin, edges->twin != NULL ? triangles : 0, WORD, &to[CAROMI_TABLE_TWIN]},
        {"corners of a mesh", corners->start, mesh->vertex_count + 2, sizeof(cl_ulong), &to[CAROMI_TABLE_START]},
        {"corners of a mesh", corners->triangle, 3 * triangles, WORD, &to[CAROMI_TABLE_TRIANGLE]},
        {"masks of a mesh", edges->mask, edges->mask != NULL ? triangles : 0, WORD, &to[CAROMI_TABLE_MASK]}};
    for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++)
        if (*arrays[i].out == NULL)
            CHECK(caromi_copy_array(device, &arrays[i], err));
    return contacts != NULL && contacts->patches.of != NULL ? upload_patches(device, mesh, copy, contacts, err)
                                                            : CAROM_OK;
}

void caromi_rows_set_patches(const caromi_rows *rows, caromi_arguments *arguments)
{
    const carom_mesh *mesh = rows->batch->sweep.mesh;
    const mesh_copy *copy = caromi_mesh_copy_of(rows->job.device, mesh);
    const int has_patches = rows->batch->contacts != NULL && rows->batch->contacts->patches.of != NULL;
    caromi_set_argument(arguments, has_patches ? &copy->tables[CAROMI_TABLE_PATCH] : &copy->indices, sizeof(cl_mem));
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

/* The mesh's arguments, in the order of CONTACT_MESH_PARAMETERS. */
static void set_mesh(const caromi_rows *rows, caromi_arguments *arguments)
{
    const carom_mesh *mesh = rows->batch->sweep.mesh;
    const mesh_copy *copy = caromi_mesh_copy_of(rows->job.device, mesh);
    const double extent = caromi_mesh_extent(mesh);
    caromi_set_argument(arguments, &mesh->view.frame.scale, sizeof mesh->view.frame.scale);
    caromi_set_argument(arguments, &mesh->view.frame.scale_field, sizeof mesh->view.frame.scale_field);
    caromi_set_argument(arguments, &copy->vertices, sizeof copy->vertices);
    caromi_set_argument(arguments, &copy->indices, sizeof copy->indices);
    for (int table = CAROMI_TABLE_POSITION; table <= CAROMI_TABLE_MASK; table++)
        caromi_set_argument(arguments, &copy->tables[table], sizeof copy->tables[table]);
    caromi_set_int(arguments, mesh->edges->mask != NULL);
    caromi_set_argument(arguments, &extent, sizeof extent);
    caromi_set_uint(arguments, mesh->info.triangle_count);
}

/* The spheres' arguments, in the order of CONTACT_SPHERE_PARAMETERS. */
static void set_spheres(const caromi_rows *rows, caromi_arguments *arguments)
{
    const caromi_cl_slot *slot = rows->job.slot;
    const int has_masks = rows->batch->sweep.mask.base != NULL;
    caromi_set_columns(arguments, slot->in, CAROMI_CLOSEST_IN);
    caromi_set_column(arguments, &slot->in[has_masks ? CAROMI_CLOSEST_IN : 0]);
    caromi_set_int(arguments, has_masks);
}

/* Launches a kernel for all candidates, so many at a time. The arguments end before `share`. */
static carom_status launch_in_parts(const caromi_rows *rows, const caromi_arguments *arguments, uint64_t most,
                                    carom_error *err)
{
    for (uint64_t first = 0; first < rows->candidates; first += most) {
        const uint64_t left = rows->candidates - first;
        caromi_arguments part = *arguments;
        caromi_set_uint(&part, 1); /* for mesh_run_is_truncated() */
        caromi_set_uint(&part, first);
        CHECK(caromi_grid_launch_each(&rows->job, &part, left < most ? left : most, err));
    }
    return CAROM_OK;
}

/* The most steps of a decision. Of the two questions of a probe, the one without masks asks for few. */
static void set_most(const caromi_rows *rows, caromi_arguments *arguments, uint32_t most)
{
    const int is_few = rows->job.device->probing && rows->batch->sweep.mask.base == NULL;
    caromi_set_uint(arguments, is_few ? FEW : most);
}

static carom_status choose(const caromi_rows *rows, carom_error *err)
{
    const uint32_t program = CAROMI_PROGRAM_CONTACT_CHOOSE + (uint32_t)rows->batch->sweep.exact;
    caromi_arguments arguments = caromi_arguments_of(rows->job.device, program);
    set_mesh(rows, &arguments);
    set_spheres(rows, &arguments);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_RECORDS);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_SLOTS);
    caromi_set_uint(&arguments, rows->rows);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_KEYS);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_OF);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_HITS);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_MARKS);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_REPORT);
    set_most(rows, &arguments, CONTACT_TESTS);
    return launch_in_parts(rows, &arguments, CHOSEN, err);
}

static carom_status merge(const caromi_rows *rows, carom_error *err)
{
    const uint32_t program = CAROMI_PROGRAM_CONTACT_MERGE + (uint32_t)rows->batch->sweep.exact;
    const carom_mesh *mesh = rows->batch->sweep.mesh;
    const mesh_copy *copy = caromi_mesh_copy_of(rows->job.device, mesh);
    caromi_arguments arguments = caromi_arguments_of(rows->job.device, program);
    set_mesh(rows, &arguments);
    caromi_set_argument(&arguments, &copy->nodes, sizeof copy->nodes);
    caromi_set_argument(&arguments, &copy->leaves, sizeof copy->leaves);
    caromi_set_int(&arguments, mesh->view.frame.root);
    set_spheres(rows, &arguments);
    caromi_set_real(&arguments, rows->batch->contacts->merge);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_RECORDS);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_OF);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_KEYS);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_HITS);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_MARKS);
    caromi_grid_set_memory(&rows->job, &arguments, CAROMI_ROWS_REPORT);
    set_most(rows, &arguments, CONTACT_STEPS);
    return launch_in_parts(rows, &arguments, MERGED, err);
}

carom_status caromi_rows_choose(const caromi_rows *rows, carom_error *err)
{
    if (caromi_mesh_copy_of(rows->job.device, rows->batch->sweep.mesh)->tables[CAROMI_TABLE_POSITION] ==
        NULL) /* the host found others */
        return caromi_fail_corrupt(rows->job.device, "corners", rows->first, rows->first + rows->rows, err);
    caromi_arguments list = caromi_arguments_of(rows->job.device, CAROMI_PROGRAM_ROWS_MARKED);
    CHECK(caromi_grid_clear(&rows->job, CAROMI_ROWS_MARKS, rows->rows, err));
    CHECK(choose(rows, err));
    if (rows->batch->contacts->merge > 0)
        CHECK(merge(rows, err));
    caromi_grid_set_memory(&rows->job, &list, CAROMI_ROWS_MARKS);
    caromi_grid_set_memory(&rows->job, &list, CAROMI_ROWS_REPORT);
    caromi_grid_set_memory(&rows->job, &list, CAROMI_ROWS_UNDECIDED);
    caromi_grid_set_memory(&rows->job, &list, CAROMI_ROWS_UNDECIDED_OF);
    return caromi_grid_launch_each(&rows->job, &list, rows->rows, err);
}
