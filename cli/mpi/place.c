/* SPDX-License-Identifier: MIT */
#include "place.h"

#include "cli/probe/probe.h"
#include "ranks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a device for each rank ---------------------------------------------------------------------------------------
 */

/* Those that a rank may be given: the GPUs, or if there is none, the rest. */
static uint32_t usable(const cli_options *options, uint32_t *numbers)
{
    probe_outcome *found = cli_alloc(1, sizeof *found);
    uint32_t count = 0;
    if (found && probe_run(options, "list", found))
        for (int gpu = 1; gpu >= 0 && count == 0; gpu--)
            for (uint32_t i = 0; i < found->count; i++)
                if (found->devices[i].available && (strcmp(found->devices[i].kind, "gpu") == 0) == gpu)
                    numbers[count++] = found->devices[i].index;
    free(found);
    return count;
}

void place_choose(cli_options *options, char number[16])
{
    const int wants = options->backend == CAROM_BACKEND_OPENCL && !options->device;
    int before = 0;
    MPI_Request request;
    MPI_Iexscan(&wants, &before, 1, MPI_INT, MPI_SUM, all_ranks.node, &request);
    ranks_wait(&request);
    if (!wants || all_ranks.local == 0)
        return; /* the first rank of a node is given what carom takes; of the first, exscan says nothing */
    uint32_t numbers[PROBE_DEVICES];
    const uint32_t count = usable(options, numbers);
    if (count == 0)
        return; /* opening one fails in words */
    snprintf(number, 16, "%u", numbers[(uint32_t)before % count]);
    options->device = number;
}

/* ---- the report ---------------------------------------------------------------------------------------------------
 */

enum { WORDS = 256 };

/* What a rank tells rank 0. */
typedef struct rank_place {
    int local, on_node, node; /* node: the rank of its first */
    uint32_t threads;
    int64_t device; /* its number, -1: none */
    char host[RANKS_HOST], words[WORDS];
} rank_place;

static rank_place describe(const carom_context *context)
{
    rank_place p = {.local = all_ranks.local,
                    .on_node = all_ranks.on_node,
                    .node = all_ranks.rank,
                    .threads = carom_context_threads(context),
                    .device = -1};
    carom_device_info info = {.size = sizeof info};
    ranks_spread(&p.node, sizeof p.node, all_ranks.node);
    memcpy(p.host, all_ranks.host, sizeof p.host);
    if (carom_context_get_device(context, &info, NULL) == CAROM_OK) {
        p.device = info.index;
        snprintf(p.words, sizeof p.words, "device %u, %s", info.index, info.name);
    }
    return p;
}

static void report_rank(const rank_place *all, int rank)
{
    const rank_place *p = &all[rank];
    int sharing = 0;
    for (int i = 0; i < all_ranks.count; i++)
        sharing += all[i].node == p->node && all[i].device == p->device;
    char shared[64] = "";
    if (sharing > 1)
        snprintf(shared, sizeof shared, ", shared by %d ranks", sharing);
    cli_message("rank %d (node-local %d of %d on %s): %s%s", rank, p->local, p->on_node, p->host, p->words, shared);
}

static void report_node(const rank_place *all, int first, uint64_t mesh_bytes)
{
    int on_cpu = 0;
    uint32_t least = UINT32_MAX, most = 0;
    for (int i = 0; i < all_ranks.count; i++)
        if (all[i].node == first && all[i].device < 0) {
            on_cpu++;
            least = all[i].threads < least ? all[i].threads : least;
            most = all[i].threads > most ? all[i].threads : most;
        }
    char cpu[96] = "", to[16] = "";
    if (least < most)
        snprintf(to, sizeof to, "%u to ", least);
    if (on_cpu > 0)
        snprintf(cpu, sizeof cpu, ", %d on the CPU with %s%u thread%s%s", on_cpu, to, most, most > 1 ? "s" : "",
                 on_cpu > 1 ? " each" : "");
    cli_message("node %s: %d rank%s%s; the mesh is there once, %llu bytes", all[first].host, all[first].on_node,
                all[first].on_node > 1 ? "s" : "", cpu, (unsigned long long)mesh_bytes);
}

void place_report(const carom_context *context, uint64_t mesh_bytes)
{
    const rank_place mine = describe(context);
    rank_place *all = all_ranks.rank == 0 ? cli_alloc((uint64_t)all_ranks.count, sizeof *all) : NULL;
    MPI_Request request;
    if (ranks_agree(all_ranks.rank == 0 && !all) != 0)
        return; /* no memory for words that nothing depends on */
    MPI_Igather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
    ranks_wait(&request);
    for (int i = 0; all && i < all_ranks.count; i++) {
        if (all[i].local == 0)
            report_node(all, i, mesh_bytes);
        if (all[i].device >= 0)
            report_rank(all, i);
    }
    free(all);
}
