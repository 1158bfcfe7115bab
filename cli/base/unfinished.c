/* SPDX-License-Identifier: MIT */
#include "unfinished.h"
#include "progress.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the files: a handler can reach nothing but globals ------------------------------------------------------- */

enum { FILES_MAX = 4, NAME_SIZE = 32 };

static struct {
    int folder;
    char name[NAME_SIZE];
    atomic_int set;
} files[FILES_MAX];

/* Held while a file comes or goes, and from the removal to the end of the process. */
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;

static void remove_files(void)
{
    for (int i = 0; i < FILES_MAX; i++)
        if (atomic_exchange(&files[i].set, 0))
            unlinkat(files[i].folder, files[i].name, 0);
}

static int find(int folder, const char *name)
{
    for (int i = 0; i < FILES_MAX; i++)
        if (atomic_load(&files[i].set) && files[i].folder == folder && !strcmp(files[i].name, name))
            return i;
    return -1;
}

static int link_nameless(int fd, int folder, const char *name)
{
    char path[UNFINISHED_PATH];
    unfinished_path(path, fd);
    return linkat(AT_FDCWD, path, folder, name, AT_SYMLINK_FOLLOW) == 0 ? fd : -1;
}

int unfinished_create(int folder, const char *name, mode_t mode, int nameless)
{
    int fd = -1, error = EMFILE, i = 0;
    pthread_mutex_lock(&files_lock);
    while (i < FILES_MAX && atomic_load(&files[i].set))
        i++;
    if (i < FILES_MAX) {
        fd = nameless >= 0 ? link_nameless(nameless, folder, name)
                           : openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
        error = errno;
    }
    if (fd >= 0) {
        files[i].folder = folder;
        snprintf(files[i].name, sizeof files[i].name, "%s", name);
        atomic_store(&files[i].set, 1);
    }
    pthread_mutex_unlock(&files_lock);
    errno = error;
    return fd;
}

void unfinished_path(char path[UNFINISHED_PATH], int fd)
{
    snprintf(path, UNFINISHED_PATH, "/proc/self/fd/%d", fd);
}

int unfinished_rename(int folder, const char *name, const char *to)
{
    pthread_mutex_lock(&files_lock);
    int i = find(folder, name), failed = renameat(folder, name, folder, to), error = errno;
    if (!failed && i >= 0)
        atomic_store(&files[i].set, 0);
    pthread_mutex_unlock(&files_lock);
    errno = error;
    return failed;
}

void unfinished_drop(int folder, const char *name)
{
    pthread_mutex_lock(&files_lock);
    int i = find(folder, name);
    if (i >= 0)
        atomic_store(&files[i].set, 0);
    unlinkat(folder, name, 0);
    pthread_mutex_unlock(&files_lock);
}

/* ---- signals -------------------------------------------------------------------------------------------------- */

/* Those from outside whose default is to end the process. Writing to a pipe without a reader and beyond a limit send
 * the last two to the thread that writes; blocked, they leave it to the call to fail. */
static const int outside[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGTERM, SIGUSR1,   SIGUSR2, SIGALRM, SIGVTALRM,
                              SIGPROF, SIGXCPU, SIGPOLL, SIGPWR,  SIGSTKFLT, SIGPIPE, SIGXFSZ};
/* Those of a program that is wrong. They can be caught, not waited for. */
static const int faults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};

enum { OUTSIDE = sizeof outside / sizeof outside[0], FAULTS = sizeof faults / sizeof faults[0] };

static sigset_t taken_outside, taken_faults; /* those that had their default at the start */
static sigset_t first_mask;                  /* of the start, which children are given */

static atomic_int held, asked; /* unfinished_hold; the first signal since */
static atomic_int held_users;  /* unfinished_hold_users_too */

static int is_default(int number)
{
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL;
}

/* The parent sees that this signal ended the process, but for the first process of a container: no signal ends that. */
_Noreturn static void die(int number)
{
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t set;
    progress_leave();
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number); /* to this thread, which has it blocked at most until here */
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + number);
}

static void on_fault(int number)
{
    remove_files();
    die(number);
}

void unfinished_hold(void)
{
    atomic_store(&held, 1);
}

void unfinished_hold_users_too(void)
{
    atomic_store(&held_users, 1);
}

int unfinished_asked(void)
{
    return atomic_load(&asked);
}

/* Does it only ask for an end? */
static int is_first(int number)
{
    int none = 0;
    const int is_users = (number == SIGUSR1 || number == SIGUSR2) && atomic_load(&held_users);
    return (number == SIGINT || number == SIGTERM || is_users) && atomic_load(&held) &&
           atomic_compare_exchange_strong(&asked, &none, number);
}

static void on_outside(int number)
{
    if (!is_first(number))
        on_fault(number);
}

static void *wait_for_end(void *waiting)
{
    int number;
    sem_post(waiting);
    while (sigwait(&taken_outside, &number) != 0 || is_first(number))
        continue;
    pthread_mutex_lock(&files_lock); /* for good: whatever is being renamed is whole */
    remove_files();
    die(number);
}

void unfinished_end_by(int number)
{
    if (!sigismember(&taken_outside, number))
        return;
    pthread_mutex_lock(&files_lock);
    remove_files();
    die(number);
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

void unfinished_handle_faults(void)
{
    for (int i = 0; i < FAULTS; i++)
        if (sigismember(&taken_faults, faults[i]))
            handle(faults[i], on_fault, (int)(SA_RESETHAND | SA_ONSTACK));
}

/* Without a thread that waits: handlers, which a driver may replace. */
static void handle_outside(void)
{
    for (int i = 0; i < OUTSIDE; i++) {
        if (!sigismember(&taken_outside, outside[i]) || outside[i] == SIGPIPE || outside[i] == SIGXFSZ)
            continue;
        sigset_t set;
        sigemptyset(&set);
        sigaddset(&set, outside[i]);
        handle(outside[i], on_outside, SA_ONSTACK | SA_RESTART);
        pthread_sigmask(SIG_UNBLOCK, &set, NULL);
    }
}

/* A child is its own master: it may be ended as any program, and the files are none of its business. */
static void in_child(void)
{
    for (int i = 0; i < FILES_MAX; i++)
        atomic_store(&files[i].set, 0);
    pthread_sigmask(SIG_SETMASK, &first_mask, NULL);
}

/* Returns when the thread has begun: it then holds no lock of an allocator, which a fork would leave locked. */
static int start_waiting(void)
{
    enum { STACK = 1 << 16 }; /* it calls next to nothing */
    pthread_attr_t attributes;
    pthread_t thread;
    sem_t waiting;
    if (sem_init(&waiting, 0, 0) != 0 || pthread_attr_init(&attributes) != 0)
        return 0;
    int started = pthread_attr_setstacksize(&attributes, STACK) == 0 &&
                  pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED) == 0 &&
                  pthread_create(&thread, &attributes, wait_for_end, &waiting) == 0;
    pthread_attr_destroy(&attributes);
    while (started && sem_wait(&waiting) != 0)
        continue;
    sem_destroy(&waiting);
    return started;
}

void unfinished_begin(void)
{
    static char stack[1 << 16]; /* for the fault of a stack that is full; a sanitizer has one already */
    const stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    stack_t present;
    sigemptyset(&taken_outside);
    sigemptyset(&taken_faults);
    for (int i = 0; i < OUTSIDE; i++)
        if (is_default(outside[i]))
            sigaddset(&taken_outside, outside[i]);
    for (int i = 0; i < FAULTS; i++)
        if (is_default(faults[i]))
            sigaddset(&taken_faults, faults[i]);
    if (sigaltstack(NULL, &present) == 0 && (present.ss_flags & SS_DISABLE))
        sigaltstack(&other, NULL);
    unfinished_handle_faults();
    atexit(remove_files); /* a driver, too, may call exit */
    pthread_sigmask(SIG_BLOCK, &taken_outside, &first_mask);
    pthread_atfork(NULL, NULL, in_child);
    if (!start_waiting())
        handle_outside();
}
