/* SPDX-License-Identifier: MIT */
/* Advice where an OpenCL driver fails. */
#include "command.h"
#include "cli/base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PATH = 1024 };

/* Where drivers keep compiled kernels: in the folder that a variable names, else under $XDG_CACHE_HOME (~/.cache), or
 * under ~ if the folder begins with ~. */
typedef struct kernel_cache {
    const char *platform, *name, *variable, *folder;
} kernel_cache;

static const kernel_cache caches[] = {
    {"Portable Computing Language", "PoCL", "POCL_CACHE_DIR", "pocl"},
    {"rusticl", "Mesa", "MESA_SHADER_CACHE_DIR", "mesa_shader_cache"},
    {"Clover", "Mesa", "MESA_SHADER_CACHE_DIR", "mesa_shader_cache"},
    {"NVIDIA", "NVIDIA", "CUDA_CACHE_PATH", "~/.nv/ComputeCache"},
    {"Intel", "Intel", "NEO_CACHE_DIR", "neo_compiler_cache"},
    {"AMD", "AMD", "AMD_COMGR_CACHE_DIR", "comgr"},
};

static void folder_of(const kernel_cache *c, char out[PATH])
{
    const char *named = getenv(c->variable), *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    home = home ? home : "";
    if (named && named[0])
        snprintf(out, PATH, "%s", named);
    else if (c->folder[0] == '~')
        snprintf(out, PATH, "%s%s", home, c->folder + 1);
    else if (base && base[0])
        snprintf(out, PATH, "%s/%s", base, c->folder);
    else
        snprintf(out, PATH, "%s/.cache/%s", home, c->folder);
}

/* The cache folder of this platform; for an unknown platform, every known cache folder that exists. */
static void add_caches(text_buffer *t, const char *platform)
{
    char folder[PATH], last[PATH] = "";
    for (size_t i = 0; i < sizeof caches / sizeof caches[0]; i++) {
        folder_of(&caches[i], folder);
        if (platform[0] ? !strstr(platform, caches[i].platform) : access(folder, F_OK) != 0 || !strcmp(folder, last))
            continue;
        text_add(t, "; delete %s's kernel cache, the folder %s", caches[i].name, folder);
        snprintf(last, sizeof last, "%s", folder);
    }
}

static int is_in_path(const char *program)
{
    char file[PATH];
    for (const char *at = getenv("PATH"); at && *at;) {
        const size_t length = strcspn(at, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)length, at, program);
        if (access(file, X_OK) == 0)
            return 1;
        at += length + (at[length] == ':');
    }
    return 0;
}

static void add_advice(text_buffer *t, const char *platform)
{
    struct rlimit limit;
    const size_t begin = t->used;
    if (!is_in_path("ld"))
        text_add(t, "; put the linker ld, which PoCL needs, into PATH");
    if (getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
        text_add(t, "; raise the limit of address space, now %llu KiB (ulimit -v)",
                 (unsigned long long)limit.rlim_cur / 1024);
    add_caches(t, platform);
    text_add(t, "; choose another driver (OCL_ICD_VENDORS=FILE.icd)");
    t->at[begin] = ':';
}

size_t cli_advise(char *out, size_t size, const char *platform)
{
    text_buffer t = {out, size, 0};
    out[0] = '\0';
    text_add(&t, "To try");
    add_advice(&t, platform);
    return t.used;
}
