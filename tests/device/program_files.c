/* SPDX-License-Identifier: MIT */
/* program_files FOLDER: what a GPU's driver would be given for each OpenCL program, into files for compilers that need
 * no GPU: FOLDER/NAME.cl is the text, NAME.options are the build options, NAME.amd those that AMD's driver is given
 * besides. Searches whose work-items can share queries come twice: NAME for 32 of them, NAME_alone for none. */
#include "host/opencl/programs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[CAROMI_PROGRAM_COUNT] = {
#define PAIR(name, in, radii, out, bytes) [CAROMI_PAIR_##name] = #name,
    PAIR_KERNELS(PAIR)
#define ROW(program, kernel, root, has_stack, options) [CAROMI_PROGRAM_##program] = #program,
        CAROMI_PROGRAMS(ROW)};

/* Work-items that share queries, and what their number adds to a program's name. */
typedef struct variant {
    uint32_t items;
    const char *name;
} variant;
static const variant variants[] = {{32, ""}, {0, "_alone"}};

static FILE *create(const char *folder, uint32_t program, const variant *as, const char *suffix)
{
    char name[64], path[1024];
    size_t length = 0;
    for (const char *c = names[program]; *c && length < sizeof name - 1; c++)
        name[length++] = (char)tolower((unsigned char)*c);
    name[length] = '\0';
    (void)snprintf(path, sizeof path, "%s/%s%s.%s", folder, name, as->name, suffix);
    FILE *file = fopen(path, "w");
    if (file == NULL) {
        perror(path);
        exit(1);
    }
    return file;
}

static void finish(FILE *file)
{
    if (ferror(file) | fclose(file)) {
        perror("program_files");
        exit(1);
    }
}

static void write_options(const char *folder, uint32_t program, const variant *as, const char *suffix,
                          const char *options)
{
    FILE *file = create(folder, program, as, suffix);
    (void)fprintf(file, "%s\n", options);
    finish(file);
}

static void write_program(const char *folder, uint32_t program, const variant *as)
{
    const char *pieces[CAROMI_PIECES_MAX];
    const uint32_t count = caromi_program_text(program, pieces);
    char options[256];
    FILE *text = create(folder, program, as, "cl");
    for (uint32_t i = 0; i < count; i++)
        (void)fputs(pieces[i], text);
    finish(text);
    const caromi_program_shape shape = {1, as->items, CAROMI_STACK_SHORT, 1};
    caromi_program_options(program, &shape, options, sizeof options);
    write_options(folder, program, as, "options", options);
    write_options(folder, program, as, "amd", caromi_program_vendor_options(program, CAROMI_AMD_PLATFORM));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: program_files FOLDER\n");
        return 2;
    }
    for (uint32_t program = 0; program < CAROMI_PROGRAM_COUNT; program++)
        for (size_t v = 0; v < (caromi_program_has_teams(program) ? sizeof variants / sizeof *variants : 1); v++)
            write_program(argv[1], program, &variants[v]);
    return 0;
}
