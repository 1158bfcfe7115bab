/* SPDX-License-Identifier: MIT */
/* Options that several commands have, refused with a sentence that names option and value. */
#include "command.h"
#include "cli/base/decimal.h"

#include <math.h>
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
    *(const char **)out = value;
    return -1;
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

static int parse_word(const char *text, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(text, words[i]))
            return i;
    return -1;
}

int cli_read_start(const char *name, const char *value, void *out)
{
    static const char *const words[] = {"report", "skip-parting", "skip"};
    static const carom_start starts[] = {CAROM_START_REPORT, CAROM_START_SKIP_PARTING, CAROM_START_SKIP};
    int i = parse_word(value, words, 3);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--%s: expected report, skip-parting or skip, got '%s'", name, value);
    *(carom_start *)out = starts[i];
    return -1;
}

const char *const cli_sign_words[CLI_SIGNS] = {"none", "parity", "winding", "robust"};

int cli_read_sign(const char *name, const char *value, void *out)
{
    const int i = parse_word(value, cli_sign_words, CLI_SIGNS);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--%s: expected none, parity, winding or robust, got '%s'", name, value);
    *(carom_sign *)out = (carom_sign)i;
    return -1;
}

/* ---- how to compute -----------------------------------------------------------------------------------------------
 */

static int read_isa(const char *name, const char *value, void *out)
{
    static const char *const words[] = {"auto", "scalar", "sse4.1", "avx2", "avx512", "neon"};
    static const carom_isa isas[] = {CAROM_ISA_AUTO, CAROM_ISA_SCALAR, CAROM_ISA_SSE41,
                                     CAROM_ISA_AVX2, CAROM_ISA_AVX512, CAROM_ISA_NEON};
    int i = parse_word(value, words, 6);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--%s: expected auto, scalar, sse4.1, avx2, avx512 or neon, got '%s'", name,
                          value);
    if (!carom_isa_available(isas[i]))
        return cli_refuse(EXIT_USAGE, "--%s %s: this CPU or this build does not have it; see carom info", name, value);
    *(carom_isa *)out = isas[i];
    return -1;
}

static int read_backend(const char *name, const char *value, void *out)
{
    static const char *const words[] = {"auto", "cpu", "opencl"};
    static const carom_backend backends[] = {CAROM_BACKEND_AUTO, CAROM_BACKEND_CPU, CAROM_BACKEND_OPENCL};
    int i = parse_word(value, words, 3);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--%s: expected auto, cpu or opencl, got '%s'", name, value);
    *(carom_backend *)out = backends[i];
    return -1;
}

static int read_accuracy(const char *name, const char *value, void *out)
{
    static const char *const words[] = {"fast", "exact"};
    int i = parse_word(value, words, 2);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--%s: expected fast or exact, got '%s'", name, value);
    *(carom_accuracy *)out = i == 0 ? CAROM_ACCURACY_FAST : CAROM_ACCURACY_EXACT;
    return -1;
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

static int read_progress(const char *name, const char *value, void *out)
{
    static const char *const words[] = {"auto", "plain", "json", "none"};
    int i = parse_word(value, words, 4);
    if (i < 0)
        return cli_refuse(EXIT_USAGE, "--%s: expected auto, plain, json or none, got '%s'", name, value);
    *(progress_form *)out = (progress_form)i;
    return -1;
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
