/* SPDX-License-Identifier: MIT */
/* program_files FOLDER: what a GPU's driver would be given for each OpenCL program, into files for compilers that need
 * no GPU: FOLDER/NAME.cl is the text, NAME.options are the build options, NAME.amd those that AMD's driver is given
 * besides. */
#include "host/opencl/programs.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const names[CAROMI_PROGRAM_COUNT] = {
#define PAIR(name, in, radii, out, bytes) [CAROMI_PAIR_##name] = #name,
    PAIR_KERNELS(PAIR)
#define ROW(program, kernel, root, has_stack, options) [CAROMI_PROGRAM_##program] = #program,
        CAROMI_PROGRAMS(ROW)};

static FILE *create(const char *folder, uint32_t program, const char *suffix)
{
    char name[64], path[1024];
    size_t length = 0;
    for (const char *c = names[program]; *c && length < sizeof name - 1; c++)
        name[length++] = (char)tolower((unsigned char)*c);
    name[length] = '\0';
    (void)snprintf(path, sizeof path, "%s/%s.%s", folder, name, suffix);
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

static void write_options(const char *folder, uint32_t program, const char *suffix, const char *options)
{
    FILE *file = create(folder, program, suffix);
    (void)fprintf(file, "%s\n", options);
    finish(file);
}

static void write_program(const char *folder, uint32_t program)
{
    const char *pieces[CAROMI_PIECES_MAX];
    const uint32_t count = caromi_program_text(program, pieces);
    char options[256];
    FILE *text = create(folder, program, "cl");
    for (uint32_t i = 0; i < count; i++)
        (void)fputs(pieces[i], text);
    finish(text);
    caromi_program_options(program, 1, CAROMI_STACK_SHORT, 1, options, sizeof options);
    write_options(folder, program, "options", options);
    write_options(folder, program, "amd", caromi_program_vendor_options(program, CAROMI_AMD_PLATFORM));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        (void)fprintf(stderr, "usage: program_files FOLDER\n");
        return 2;
    }
    for (uint32_t program = 0; program < CAROMI_PROGRAM_COUNT; program++)
        write_program(argv[1], program);
    return 0;
}
