/* SPDX-License-Identifier: MIT */
/* Where the module of other libraries is found. */
#include "peers.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "suite.h"

#ifndef CAROM_PEERS_MODULE /* cmake/peers.cmake gives these */
#define CAROM_PEERS_MODULE "carom_peers.so"
#define CAROM_PEERS_INSTALLED "../lib/carom"
#define CAROM_PEERS_CONFIGURED ""
#endif

/* Beside the command, as it is built, or in the library folder, as it is installed. 0: nowhere. */
static int find_module(char *out, size_t size)
{
    static const char *const folders[] = {".", CAROM_PEERS_INSTALLED};
    char own[PATH_MAX];
    const ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length <= 0)
        return 0;
    own[length] = '\0';
    char *const end = strrchr(own, '/');
    if (end == NULL)
        return 0;
    *end = '\0';
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        const int used = snprintf(out, size, "%s/%s/%s", own, folders[i], CAROM_PEERS_MODULE);
        if (used > 0 && (size_t)used < size && access(out, R_OK) == 0)
            return 1;
    }
    return 0;
}

/* NULL and a note if it is there and does not load. It is never closed: threads of its libraries may live on in it. */
static peer_list_fn *open_module(const char *path, const bench_listener *listener)
{
    char text[3 * PATH_MAX];
    peer_list_fn *list = NULL;
    void *const module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    void *const symbol = module != NULL ? dlsym(module, "carom_peer") : NULL;

    if (symbol == NULL) {
        snprintf(text, sizeof text, "Embree, Bullet, FCL, CGAL and nanoflann are not measured: %s", dlerror());
        listener->note(listener->user, text);
        return NULL;
    }
    memcpy(&list, &symbol, sizeof list); /* C has no cast from an object to a function */
    return list;
}

/* Found when the build was configured: then only the module is missing. */
static int is_configured(const char *library)
{
    const size_t length = strlen(library);
    for (const char *at = CAROM_PEERS_CONFIGURED; *at != '\0'; at += strcspn(at, ",") + 1)
        if (!strncmp(at, library, length) && at[length] == ',')
            return 1;
    return 0;
}

static void note_absent(const bench_listener *listener, peer_list_fn *list, const char *library)
{
    char text[256];

    for (size_t k = 0; list != NULL && list(k) != NULL; k++)
        if (!strcmp(list(k)->library, library))
            return;
    if (list == NULL && is_configured(library))
        snprintf(text, sizeof text, "%s is not measured: %s is not beside carom; the target carom_peers builds it",
                 library, CAROM_PEERS_MODULE);
    else
        snprintf(text, sizeof text, "%s is not measured: not in this build", library);
    listener->note(listener->user, text);
}

peer_list_fn *peers_load(const bench_listener *listener)
{
    static const char *const libraries[] = {"Embree", "Bullet", "FCL", "CGAL", "nanoflann"};
    char path[2 * PATH_MAX];
    const int found = find_module(path, sizeof path);
    peer_list_fn *const list = found ? open_module(path, listener) : NULL;

    for (size_t i = 0; (list != NULL || !found) && i < sizeof libraries / sizeof libraries[0]; i++)
        note_absent(listener, list, libraries[i]);
    return list;
}
