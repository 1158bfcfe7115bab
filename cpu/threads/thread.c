/* SPDX-License-Identifier: MIT */
#include "thread.h"

#include <signal.h>

int caromi_thread_start(pthread_t *id, size_t stack, void *(*run)(void *user), void *user)
{
    static const int own[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGPROF};
    sigset_t held, before;
    pthread_attr_t with_stack, *attributes = stack > 0 && pthread_attr_init(&with_stack) == 0 ? &with_stack : NULL;
    if (attributes != NULL)
        (void)pthread_attr_setstacksize(attributes, stack);
    (void)sigfillset(&held);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        (void)sigdelset(&held, own[i]);
    (void)pthread_sigmask(SIG_BLOCK, &held, &before);
    const int started = pthread_create(id, attributes, run, user) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (attributes != NULL)
        (void)pthread_attr_destroy(attributes);
    return started;
}
