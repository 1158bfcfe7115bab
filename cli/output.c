/* SPDX-License-Identifier: MIT */
#include "output.h"
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- removal on a signal: the handler can reach nothing but globals ----------------------------------------- */

static char unfinished[PATH_MAX];
static volatile sig_atomic_t unfinished_set;

static void remove_unfinished(int number)
{
    if (unfinished_set)
        unlink(unfinished);
    /* SA_RESETHAND has put the default action back: the caller sees that a signal ended us. */
    raise(number);
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

static void catch_signals(void)
{
    for (size_t i = 0; i < sizeof ending_signals / sizeof ending_signals[0]; i++) {
        struct sigaction old, action = {.sa_handler = remove_unfinished, .sa_flags = (int)SA_RESETHAND};
        sigemptyset(&action.sa_mask);
        /* nohup and background shells ignore some of them on purpose */
        if (sigaction(ending_signals[i], NULL, &old) == 0 && old.sa_handler == SIG_DFL)
            sigaction(ending_signals[i], &action, NULL);
    }
}

static void block_signals(sigset_t *old)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending_signals / sizeof ending_signals[0]; i++)
        sigaddset(&set, ending_signals[i]);
    sigprocmask(SIG_BLOCK, &set, old);
}

/* ---- opening ------------------------------------------------------------------------------------------------ */

static int fail(const output *out, int error)
{
    return cli_refuse(EXIT_WORK, "%s: cannot be written: %s", out->shown, strerror(error));
}

/* Names of descriptors that are already open: opening them again would truncate or restart the file behind. */
static int named_descriptor(const char *path)
{
    static const char *const prefixes[] = {"/dev/fd/", "/proc/self/fd/"};
    if (!strcmp(path, "-") || !strcmp(path, "/dev/stdout"))
        return STDOUT_FILENO;
    if (!strcmp(path, "/dev/stderr"))
        return STDERR_FILENO;
    for (size_t i = 0; i < 2; i++) {
        size_t n = strlen(prefixes[i]);
        char *end;
        if (strncmp(path, prefixes[i], n) || path[n] < '0' || path[n] > '9')
            continue;
        long fd = strtol(path + n, &end, 10);
        if (*end == '\0' && fd <= INT_MAX)
            return (int)fd;
    }
    return -1;
}

/* Replace path by what its symbolic link says. Returns 1 if it was a link, 0 if not, -1 with errno set. */
static int follow_link(char **path)
{
    struct stat info;
    char target[PATH_MAX];
    if (lstat(*path, &info) != 0 || !S_ISLNK(info.st_mode))
        return 0;
    ssize_t n = readlink(*path, target, sizeof target - 1);
    if (n < 0)
        return -1;
    target[n] = '\0';
    const char *slash = strrchr(*path, '/');
    size_t folder = target[0] == '/' || !slash ? 0 : (size_t)(slash + 1 - *path);
    char *joined = malloc(folder + (size_t)n + 1);
    if (!joined)
        return -1;
    memcpy(joined, *path, folder);
    memcpy(joined + folder, target, (size_t)n + 1);
    free(*path);
    *path = joined;
    return 1;
}

/* Create the file beside the final one, in its directory so that the rename stays within one file system. */
static int open_beside(output *out)
{
    static const char pattern[] = ".carom-XXXXXX";
    const char *slash = strrchr(out->final, '/');
    size_t folder = slash ? (size_t)(slash + 1 - out->final) : 0;
    char *temporary = malloc(folder + sizeof pattern);
    if (!temporary || folder + sizeof pattern > sizeof unfinished) {
        free(temporary);
        errno = temporary ? ENAMETOOLONG : ENOMEM;
        return -1;
    }
    memcpy(temporary, out->final, folder);
    memcpy(temporary + folder, pattern, sizeof pattern);
    sigset_t old;
    block_signals(&old);
    int fd = mkostemp(temporary, O_CLOEXEC), error = errno;
    if (fd >= 0) {
        memcpy(unfinished, temporary, folder + sizeof pattern);
        unfinished_set = 1;
        catch_signals();
        mode_t mask = umask(0);
        umask(mask);
        (void)fchmod(fd, 0666 & ~mask); /* a file system without modes is none of our business */
        out->temporary = temporary;
    } else {
        free(temporary);
    }
    sigprocmask(SIG_SETMASK, &old, NULL);
    errno = error;
    return fd;
}

static int open_path(output *out, const char *path)
{
    struct stat info;
    out->final = strdup(path);
    if (!out->final)
        return -1;
    for (int links = 0;; links++) {
        int fd = named_descriptor(out->final);
        if (fd >= 0) {
            free(out->final);
            out->final = NULL;
            return fcntl(fd, F_DUPFD_CLOEXEC, 3);
        }
        int linked = links < 40 ? follow_link(&out->final) : -1;
        if (links == 40)
            errno = ELOOP;
        if (linked < 0)
            return -1;
        if (linked == 0)
            break;
    }
    size_t length = strlen(out->final);
    if (length > 0 && out->final[length - 1] == '/') {
        errno = EISDIR;
        return -1;
    }
    if (stat(out->final, &info) == 0 && !S_ISREG(info.st_mode)) {
        int fd = open(out->final, O_WRONLY | O_CLOEXEC | O_NOCTTY);
        free(out->final);
        out->final = NULL;
        return fd;
    }
    return open_beside(out);
}

int output_open(output *out, const char *path)
{
    *out = (output){.shown = path && strcmp(path, "-") ? path : "standard output"};
    out->buffer = malloc(OUTPUT_BUFFER);
    if (!out->buffer)
        return cli_no_memory();
    out->fd = open_path(out, path ? path : "-");
    if (out->fd >= 0)
        return EXIT_DONE;
    int status = fail(out, errno);
    free(out->final);
    free(out->buffer);
    return status;
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

static void flush(output *out)
{
    size_t done = 0;
    while (done < out->used && !out->error) {
        ssize_t n = write(out->fd, out->buffer + done, out->used - done);
        if (n >= 0)
            done += (size_t)n;
        else if (errno != EINTR)
            out->error = errno;
    }
    out->used = 0;
}

int output_close(output *out, int status)
{
    flush(out);
    if (close(out->fd) != 0 && !out->error)
        out->error = errno;
    if (status == EXIT_DONE && out->error)
        status = fail(out, out->error);
    if (out->temporary) {
        sigset_t old;
        block_signals(&old);
        if (status == EXIT_DONE && rename(out->temporary, out->final) != 0)
            status = fail(out, errno);
        if (status != EXIT_DONE)
            unlink(out->temporary);
        unfinished_set = 0;
        sigprocmask(SIG_SETMASK, &old, NULL);
    }
    free(out->temporary);
    free(out->final);
    free(out->buffer);
    return status;
}

void output_text(output *out, const char *text)
{
    for (size_t length = strlen(text); length > 0;) {
        if (out->used == OUTPUT_BUFFER)
            flush(out);
        size_t n = OUTPUT_BUFFER - out->used < length ? OUTPUT_BUFFER - out->used : length;
        memcpy(out->buffer + out->used, text, n);
        out->used += n;
        text += n;
        length -= n;
    }
}

void output_char(output *out, char c)
{
    if (out->used == OUTPUT_BUFFER)
        flush(out);
    out->buffer[out->used++] = c;
}

void output_int(output *out, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    output_text(out, text);
}

void output_format(output *out, const char *format, ...)
{
    char small[512], *text = small;
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n >= (int)sizeof small) {
        text = malloc((size_t)n + 1);
        if (!text) {
            out->error = ENOMEM;
            return;
        }
        va_start(args, format);
        vsnprintf(text, (size_t)n + 1, format, args);
        va_end(args);
    }
    output_text(out, text);
    if (text != small)
        free(text);
}

/* ---- numbers ------------------------------------------------------------------------------------------------ */

/* Nine digits of value * 10^places without trailing zeros, as %g lays them out; places <= 12. */
static size_t lay_out(char *text, uint32_t digits, int places)
{
    char reversed[16];
    size_t n = 0, used = 0;
    while (places > 0 && digits % 10 == 0) {
        digits /= 10;
        places--;
    }
    for (; digits > 0 || (int)n <= places; digits /= 10)
        reversed[n++] = (char)('0' + digits % 10);
    while (n > 0) {
        text[used++] = reversed[--n];
        if (n > 0 && (int)n == places)
            text[used++] = '.';
    }
    return used;
}

/* For 1e-4 <= |value| < 1e9 the power of ten that brings value to nine digits is at most 10^12, whose odd part has
 * 28 bits: 24 + 28 bits fit in binary64, so the product is exact and rounding it is rounding the value itself. */
size_t output_number(char text[OUTPUT_NUMBER_MAX], float value)
{
    static const double powers[] = {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12};
    double magnitude = fabs((double)value);
    size_t sign = signbit(value) ? 1 : 0;
    text[0] = '-';
    if (magnitude == 0.0) {
        text[sign] = '0';
        text[sign + 1] = '\0';
        return sign + 1;
    }
    if (!(magnitude >= 1e-4 && magnitude < 999999999.0))
        return (size_t)snprintf(text, OUTPUT_NUMBER_MAX, "%.9g", (double)value);
    int places = 8;
    while (places > 0 && magnitude * powers[places] >= 1e9)
        places--;
    while (places < 12 && magnitude * powers[places] < 1e8)
        places++;
    uint32_t digits = (uint32_t)llrint(magnitude * powers[places]);
    size_t used = sign + lay_out(text + sign, digits, places);
    text[used] = '\0';
    return used;
}

void output_float(output *out, float value)
{
    if (OUTPUT_BUFFER - out->used < OUTPUT_NUMBER_MAX)
        flush(out);
    out->used += output_number(out->buffer + out->used, value);
}
