/* SPDX-License-Identifier: MIT */
/* An OpenCL driver with a fault at the place that CAROM_TEST_ICD names: load, platforms, exit or hang. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *word)
{
    const char *wanted = getenv("CAROM_TEST_ICD");
    return wanted && !strcmp(wanted, word);
}

__attribute__((constructor)) static void load(void)
{
    if (is("load"))
        abort();
}

/* cl_int clIcdGetPlatformIDsKHR(cl_uint, cl_platform_id *, cl_uint *): the loader's first call. */
static int platforms(unsigned room, void *list, unsigned *count)
{
    static const char words[] = "the last\twords\n";
    (void)room, (void)list;
    if (is("platforms")) {
        (void)!write(STDERR_FILENO, words, sizeof words - 1);
        abort();
    }
    if (is("exit"))
        exit(0);
    while (is("hang"))
        pause();
    if (count)
        *count = 0;
    return -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
}

__attribute__((visibility("default"))) int clGetPlatformInfo(void *platform, unsigned what, size_t size, void *value,
                                                             size_t *needed);
int clGetPlatformInfo(void *platform, unsigned what, size_t size, void *value, size_t *needed)
{
    (void)platform, (void)what, (void)size, (void)value, (void)needed;
    return -32; /* CL_INVALID_PLATFORM */
}

__attribute__((visibility("default"))) void *clGetExtensionFunctionAddress(const char *name);
void *clGetExtensionFunctionAddress(const char *name)
{
    union {
        int (*function)(unsigned, void *, unsigned *);
        void *address;
    } entry = {platforms};
    return strcmp(name, "clIcdGetPlatformIDsKHR") ? NULL : entry.address;
}
