/* SPDX-License-Identifier: MIT */
/* The ranks of carom-mpi: who they are, and how they wait for each other. Open MPI waits by asking again and again, at
 * the price of a core; here a rank that waits sleeps between two looks, so that others may compute on its core. */
#ifndef CAROM_CLI_MPI_RANKS_H
#define CAROM_CLI_MPI_RANKS_H

#include <mpi.h>
#include <stdint.h>

enum { RANKS_HOST = 64 };

typedef struct ranks {
    int rank, count;
    MPI_Comm node;      /* those that share memory, in the order of their ranks */
    int local, on_node; /* of this one among them, and how many they are */
    MPI_Comm firsts;    /* the first of each node; elsewhere MPI_COMM_NULL */
    char host[RANKS_HOST];
    uint32_t threads; /* that this rank may start, so that all of the node share its cores */
} ranks;

extern ranks all_ranks;

void ranks_begin(int *argc, char ***argv);
void ranks_end(void);

/* Of all ranks or of some: wait as described above. */
void ranks_wait(MPI_Request *request);
void ranks_meet(MPI_Comm of);
void ranks_spread(void *data, uint64_t size, MPI_Comm of); /* from the first of them */
/* The largest of their exit statuses. */
int ranks_agree(int status);

#endif
