// SPDX-License-Identifier: MIT
// What a peer in C++ keeps between its queries is an object made from the task; want of memory is no exception to C.
#ifndef CAROM_BENCH_PEERS_STATE_HPP
#define CAROM_BENCH_PEERS_STATE_HPP

#include <new>

#include "libraries.h"

template <typename state> void *open_state(const peer_task *task)
{
    try {
        return new state(*task);
    } catch (const std::bad_alloc &) {
        return nullptr;
    }
}

template <typename state> void close_state(void *made)
{
    delete static_cast<state *>(made);
}

#endif
