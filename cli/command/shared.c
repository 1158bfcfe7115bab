/* SPDX-License-Identifier: MIT */
/* Options that several commands have, refused with a sentence that names option and value. */
#include "command.h"
#include "cli/base/decimal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values -------------------------------------------------------------------------------------------------------
 */

int cli_parse_count(const char *text, uint64_t low, uint64_t high, uint64_t *out)
{
    return decimal_read_whole(text, text + strlen(text), out) && *out >= low && *out <= high;
}

int cli_read_name(const char *name, const char *value, void *out)
{
    if (*value == '\0')
        return cli_refuse(EXIT_USAGE, "--%s: expected a name, got an empty one", name);
    const char **const to = out;
    if (*to)
        return cli_refuse(EXIT_USAGE, "--%s %s: there is one, and --%s %s is given already", name, value, name, *to);
    *to = value;
    return -1;
}

int cli_read_outputs(const char *name, const char *value, void *out)
{
    cli_options *o = (cli_options *)(void *)((char *)out - offsetof(cli_options, output));
    if (!o->output)
        return cli_read_name(name, value, &o->output);
    if (o->more_output_count == CLI_MORE_OUTPUTS)
        return cli_refuse(EXIT_USAGE, "--%s %s: more than %d outputs", name, value, (int)CLI_MORE_OUTPUTS + 1);
    return cli_read_name(name, value, &o->more_outputs[o->more_output_count++]);
}

int cli_read_limit(const char *name, const char *value, void *out)
{
    char *end;
    float limit = strtof(value, &end);
    if (end == value || *end != '\0' || !(limit >= 0.0f))
        return cli_refuse(EXIT_USAGE, "--%s: expected a number >= 0 or inf, got '%s'", name, value);
    *(float *)out = limit;
    return -1;
}

int cli_read_length(const char *name, const char *value, void *out)
{
    char *end;
    const float length = strtof(value, &end);
    if (end == value || *end != '\0' || !(length >= 0.0f && length < INFINITY))
        return cli_refuse(EXIT_USAGE, "--%s: expected a finite number >= 0, got '%s'", name, value);
    *(float *)out = length;
    return -1;
}

int cli_read_whole(const char *name, const char *value, void *out)
{
    if (!cli_parse_count(value, 0, UINT64_MAX, out))
        return cli_refuse(EXIT_USAGE, "--%s: expected a whole number from 0 to 2^64 - 1, got '%s'", name, value);
    return -1;
}

int cli_read_queries(const char *name, const char *value, void *out)
{
    if (!cli_parse_count(value, 1, UINT64_C(1) << 48, out))
        return cli_refuse(EXIT_USAGE, "--%s: expected a whole number from 1 to 2^48, got '%s'", name, value);
    return -1;
}

int cli_read_bundle(const char *name, const char *value, void *out)
{
    uint64_t bundle;
    if (!cli_parse_count(value, 1, UINT32_MAX, &bundle))
        return cli_refuse(EXIT_USAGE, "--%s: expected a whole number from 1 to 2^32 - 1, got '%s'", name, value);
    *(uint32_t *)out = (uint32_t)bundle;
    return -1;
}

int cli_read_word(const char *name, const char *value, const char *const *words, int *out)
{
    char text[128];
    size_t used = 0;
    for (*out = 0; words[*out]; ++*out)
        if (!strcmp(value, words[*out]))
            return -1;
    for (int i = 0; words[i] && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s",
                                 i == 0         ? ""
                                 : words[i + 1] ? ", "
                                                : " or ",
                                 words[i]);
    return cli_refuse(EXIT_USAGE, "--%s: expected %s, got '%s'", name, text, value);
}

static const char *const start_words[] = {"report", "skip-parting", "skip", NULL};

int cli_read_start(const char *name, const char *value, void *out)
{
    static const carom_start starts[] = {CAROM_START_REPORT, CAROM_START_SKIP_PARTING, CAROM_START_SKIP};
    int i;
    const int status = cli_read_word(name, value, start_words, &i);
    if (status < 0)
        *(carom_start *)out = starts[i];
    return status;
}

const char *const cli_sign_words[CLI_SIGNS + 1] = {"none", "parity", "winding", "robust", NULL};

int cli_read_sign(const char *name, const char *value, void *out)
{
    int i;
    const int status = cli_read_word(name, value, cli_sign_words, &i);
    if (status < 0)
        *(carom_sign *)out = (carom_sign)i;
    return status;
}

/* ---- how to compute -----------------------------------------------------------------------------------------------
 */

static const char *const isa_words[] = {"auto", "scalar", "sse4.1", "avx2", "avx512", "neon", NULL};

static int read_isa(const char *name, const char *value, void *out)
{
    static const carom_isa isas[] = {CAROM_ISA_AUTO, CAROM_ISA_SCALAR, CAROM_ISA_SSE41,
                                     CAROM_ISA_AVX2, CAROM_ISA_AVX512, CAROM_ISA_NEON};
    int i;
    const int status = cli_read_word(name, value, isa_words, &i);
    if (status >= 0)
        return status;
    if (!carom_isa_available(isas[i]))
        return cli_refuse(EXIT_USAGE, "--%s %s: this CPU or this build does not have it; see carom info", name, value);
    *(carom_isa *)out = isas[i];
    return -1;
}

static const char *const backend_words[] = {"auto", "cpu", "opencl", NULL};

static int read_backend(const char *name, const char *value, void *out)
{
    static const carom_backend backends[] = {CAROM_BACKEND_AUTO, CAROM_BACKEND_CPU, CAROM_BACKEND_OPENCL};
    int i;
    const int status = cli_read_word(name, value, backend_words, &i);
    if (status < 0)
        *(carom_backend *)out = backends[i];
    return status;
}

static const char *const accuracy_words[] = {"fast", "exact", NULL};

static int read_accuracy(const char *name, const char *value, void *out)
{
    int i;
    const int status = cli_read_word(name, value, accuracy_words, &i);
    if (status < 0)
        *(carom_accuracy *)out = i == 0 ? CAROM_ACCURACY_FAST : CAROM_ACCURACY_EXACT;
    return status;
}

static int read_threads(const char *name, const char *value, void *out)
{
    enum { MOST = 1024 }; /* the library's */
    uint64_t threads;
    if (!cli_parse_count(value, 1, UINT64_MAX, &threads))
        return cli_refuse(EXIT_USAGE, "--%s: expected a whole number >= 1 and below 2^64, got '%s'", name, value);
    if (threads > MOST)
        cli_message("--%s %s: %d are used, the most there can be", name, value, (int)MOST);
    *(uint32_t *)out = (uint32_t)(threads < MOST ? threads : MOST);
    return -1;
}

static int read_probe_limit(const char *name, const char *value, void *out)
{
    uint64_t seconds;
    if (!cli_parse_count(value, 0, 1000000, &seconds))
        return cli_refuse(EXIT_USAGE, "--%s: expected whole seconds, 0..1000000, got '%s'", name, value);
    *(uint32_t *)out = (uint32_t)seconds;
    return -1;
}

static const char *const progress_words[] = {"auto", "plain", "json", "none", NULL};

static int read_progress(const char *name, const char *value, void *out)
{
    int i;
    const int status = cli_read_word(name, value, progress_words, &i);
    if (status < 0)
        *(progress_form *)out = (progress_form)i;
    return status;
}

const char *const *cli_words_of(const cli_option *row)
{
    static const struct {
        cli_read_fn *read;
        const char *const *words;
    } readers[] = {{cli_read_start, start_words}, {cli_read_sign, cli_sign_words}, {read_isa, isa_words},
                   {read_backend, backend_words}, {read_accuracy, accuracy_words}, {read_progress, progress_words}};
    for (size_t i = 0; i < sizeof readers / sizeof readers[0]; i++)
        if (row->read == readers[i].read)
            return readers[i].words;
    return NULL;
}

#define AT(member) offsetof(cli_options, member)
#define COMPUTE AT(is_other_given), CLI_NO_FILE

const cli_option cli_compute_options[CLI_COMPUTE_OPTIONS] = {
    {"backend", "B", "auto, cpu (never loads OpenCL) or opencl (default auto)", read_backend, AT(backend), COMPUTE},
    {"device", "D", "OpenCL device: number or part of a name, as carom info lists them; or D,D,...", cli_read_name,
     AT(device), AT(is_device_given), CLI_NO_FILE},
    {"isa", "I", "CPU path: auto, scalar, sse4.1, avx2, avx512 or neon (default auto)", read_isa, AT(isa), COMPUTE},
    {"threads", "N", "CPU threads, >= 1 (default: all that the process may use)", read_threads, AT(threads), COMPUTE},
    {"accuracy", "A", "fast or exact", read_accuracy, AT(accuracy), AT(is_accuracy_given), CLI_NO_FILE},
    {"probe-limit", "S",
     "seconds until a device that is tried in another process counts as hung; 0: no such process (default 600)",
     read_probe_limit, AT(probe_limit), COMPUTE},
};

const cli_option cli_output_text = {"output",       "FILE",     "where to write (-o FILE; default standard output)",
                                    cli_read_name,  AT(output), 0,
                                    CLI_WRITES_TEXT};
const cli_option cli_output_rows = {"output",       "FILE",     "where to write (-o FILE; default standard output)",
                                    cli_read_name,  AT(output), 0,
                                    CLI_WRITES_ROWS};
const cli_option cli_progress_option = {
    "progress",    "P",          "on standard error: auto, plain (lines), json or none (default auto)",
    read_progress, AT(progress), 0,
    CLI_NO_FILE};
