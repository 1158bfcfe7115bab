/* SPDX-License-Identifier: MIT */
#include "ranks.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

ranks all_ranks = {.node = MPI_COMM_NULL, .firsts = MPI_COMM_NULL};

enum { NAP_LEAST = 20000, NAP_MOST = 1000000 }; /* nanoseconds between two looks */
enum { PIECE = 1 << 26 };                       /* bytes of one message; MPI counts with int */

/* ---- waiting ------------------------------------------------------------------------------------------------------
 */

void ranks_wait(MPI_Request *request)
{
    long nap = NAP_LEAST;
    for (;;) {
        int done = 0;
        MPI_Test(request, &done, MPI_STATUS_IGNORE);
        if (done)
            return;
        nanosleep(&(struct timespec){.tv_nsec = nap}, NULL);
        nap = nap < NAP_MOST / 2 ? 2 * nap : NAP_MOST;
    }
}

void ranks_meet(MPI_Comm of)
{
    MPI_Request request;
    MPI_Ibarrier(of, &request);
    ranks_wait(&request);
}

void ranks_spread(void *data, uint64_t size, MPI_Comm of)
{
    char *at = data;
    while (size > 0) {
        const int piece = size < PIECE ? (int)size : PIECE;
        MPI_Request request;
        MPI_Ibcast(at, piece, MPI_BYTE, 0, of, &request);
        ranks_wait(&request);
        at += piece;
        size -= (uint64_t)piece;
    }
}

int ranks_agree(int status)
{
    int largest = status;
    MPI_Request request;
    MPI_Iallreduce(&status, &largest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD, &request);
    ranks_wait(&request);
    return largest;
}

/* ---- who is where -------------------------------------------------------------------------------------------------
 */

/* mpirun may bind each rank to cores of its own, or leave all of them to all: a core that n ranks may use counts 1/n.
 */
static uint32_t share_of_cores(MPI_Comm node)
{
    static int users[CPU_SETSIZE];
    cpu_set_t mine;
    double share = 0.0;
    MPI_Request request;
    const int is_known = sched_getaffinity(0, sizeof mine, &mine) == 0;
    for (int i = 0; i < CPU_SETSIZE; i++)
        users[i] = is_known && CPU_ISSET(i, &mine);
    MPI_Iallreduce(MPI_IN_PLACE, users, CPU_SETSIZE, MPI_INT, MPI_SUM, node, &request);
    ranks_wait(&request);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (is_known && CPU_ISSET(i, &mine))
            share += 1.0 / users[i];
    return share < 1.5 ? 1 : (uint32_t)(share + 0x1p-20); /* thirds add up to a little less */
}

void ranks_begin(int *argc, char ***argv)
{
    int provided, length;
    char host[MPI_MAX_PROCESSOR_NAME] = "";
    ranks *r = &all_ranks;
    /* One thread of a rank calls MPI: the main one. */
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->count);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, r->rank, MPI_INFO_NULL, &r->node);
    MPI_Comm_rank(r->node, &r->local);
    MPI_Comm_size(r->node, &r->on_node);
    MPI_Comm_split(MPI_COMM_WORLD, r->local == 0 ? 0 : MPI_UNDEFINED, r->rank, &r->firsts);
    MPI_Get_processor_name(host, &length);
    memcpy(r->host, host, RANKS_HOST - 1);
    r->threads = share_of_cores(r->node);
}

void ranks_end(void)
{
    if (all_ranks.firsts != MPI_COMM_NULL)
        MPI_Comm_free(&all_ranks.firsts);
    MPI_Comm_free(&all_ranks.node);
    ranks_meet(MPI_COMM_WORLD);
    MPI_Finalize();
}
