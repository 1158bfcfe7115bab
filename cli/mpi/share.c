/* SPDX-License-Identifier: MIT */
/* See share.h. Rank 0 reads and builds; its image goes to the first rank of each other node, which may not have the
 * file, and would need as long to read and build it again. */
#include "share.h"

#include "ranks.h"

#include <sys/statvfs.h>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

static MPI_Win window = MPI_WIN_NULL;

enum { ALIGNMENT = 64, SPARE = 1 << 20 }; /* SPARE: for what MPI puts beside it */

/* Linux keeps shared memory in /dev/shm, which in a container may be small. What does not fit there would be found at
 * its first use, by a signal. */
static int check_room(uint64_t bytes)
{
    struct statvfs info;
    if (all_ranks.local != 0 || all_ranks.on_node == 1 || statvfs("/dev/shm", &info) != 0)
        return EXIT_DONE;
    const uint64_t room = (uint64_t)info.f_bavail * info.f_frsize;
    if (room >= bytes + SPARE)
        return EXIT_DONE;
    return cli_refuse(EXIT_WORK, "%s: the mesh needs %llu bytes of shared memory, and /dev/shm has room for %llu",
                      all_ranks.host, (unsigned long long)(bytes + SPARE), (unsigned long long)room);
}

/* Shared memory of the node, mapped by all its ranks, with room for the image at a multiple of 64 bytes. If MPI gives
 * none to one of them, the others may wait for ever. */
static void allocate(uint64_t bytes, char **image)
{
    const MPI_Aint size = all_ranks.local == 0 ? (MPI_Aint)(bytes + ALIGNMENT) : 0;
    MPI_Aint whole;
    int unit;
    char *base = NULL;
    MPI_Comm_set_errhandler(all_ranks.node, MPI_ERRORS_RETURN);
    const int error = MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, all_ranks.node, &base, &window);
    MPI_Comm_set_errhandler(all_ranks.node, MPI_ERRORS_ARE_FATAL);
    if (error != MPI_SUCCESS) {
        cli_message("%s: MPI gives no shared memory for the mesh (%llu bytes)", all_ranks.host,
                    (unsigned long long)bytes);
        MPI_Abort(MPI_COMM_WORLD, EXIT_WORK);
    }
    MPI_Win_shared_query(window, 0, &whole, &unit, &base);
    *image = base + (ALIGNMENT - (uintptr_t)base % ALIGNMENT) % ALIGNMENT;
}

static int open_image(bake_mesh *mesh, const char *image, uint64_t bytes)
{
    carom_error err = {0};
    carom_mesh *shared = NULL;
    const carom_status status = carom_mesh_open_image(mesh->context, image, bytes, &shared, &err);
    if (status != CAROM_OK)
        return cli_library_error(NULL, status, &err);
    carom_mesh_destroy(mesh->mesh);
    mesh->mesh = shared;
    mesh_free(&mesh->data);
#if defined(__GLIBC__)
    (void)malloc_trim(0); /* rank 0: what the import and the first copy took */
#endif
    return EXIT_DONE;
}

int share_mesh(bake_mesh *mesh, uint64_t *bytes)
{
    carom_error err = {0};
    char *image = NULL;
    if (all_ranks.rank == 0)
        (void)carom_mesh_get_image(mesh->mesh, NULL, 0, bytes, &err);
    ranks_spread(bytes, sizeof *bytes, MPI_COMM_WORLD);
    int status = ranks_agree(check_room(*bytes));
    if (status != EXIT_DONE)
        return status;
    allocate(*bytes, &image);
    MPI_Win_lock_all(MPI_MODE_NOCHECK, window);
    if (all_ranks.rank == 0 && carom_mesh_get_image(mesh->mesh, image, *bytes, bytes, &err) != CAROM_OK)
        status = cli_library_error(NULL, CAROM_ERROR_INVALID_ARGUMENT, &err);
    if (all_ranks.local == 0)
        ranks_spread(image, *bytes, all_ranks.firsts);
    MPI_Win_sync(window);
    ranks_meet(all_ranks.node);
    MPI_Win_sync(window);
    if (status == EXIT_DONE)
        status = open_image(mesh, image, *bytes);
    return ranks_agree(status);
}

void share_end(void)
{
    if (window == MPI_WIN_NULL)
        return;
    MPI_Win_unlock_all(window);
    MPI_Win_free(&window);
}
