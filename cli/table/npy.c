/* SPDX-License-Identifier: MIT */
/* The format is that of NumPy's NEP 1: magic, version, length of the header, and a Python dictionary with the keys
 * descr, fortran_order and shape. */
#include "npy.h"
#include "cli/base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEADER_MAX = 1 << 16, ROW_MAX = 1 << 20, SHOWN = 40, SHAPE_TEXT = NPY_DIMENSIONS * 22 };

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "numbers are read as they stand in the file");

static int refuse_header(const npy_file *f, const char *expected, const char *got, size_t length)
{
    return cli_refuse(EXIT_USAGE, "%s: header: expected %s, got '%.*s%s'", f->path, expected,
                      (int)(length < SHOWN ? length : SHOWN), got, length > SHOWN ? "..." : "");
}

static void shape_text(const npy_file *f, char text[SHAPE_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (int i = 0; i < f->dimensions; i++)
        used += (size_t)snprintf(text + used, SHAPE_TEXT - used, "[%llu]", (unsigned long long)f->shape[i]);
}

int npy_refuse_shape(const npy_file *f, const char *expected)
{
    char got[SHAPE_TEXT];
    shape_text(f, got);
    return cli_refuse(EXIT_USAGE, "%s: shape: expected %s, got %s", f->path, expected,
                      f->dimensions > 0 ? got : "a single number");
}

/* ---- the dictionary -----------------------------------------------------------------------------------------------
 */

typedef struct span {
    const char *at, *end;
} span;

static void skip_blanks(span *s)
{
    while (s->at < s->end && (*s->at == ' ' || *s->at == '\t' || *s->at == '\n' || *s->at == '\r'))
        s->at++;
}

static int take(span *s, char c)
{
    skip_blanks(s);
    if (s->at == s->end || *s->at != c)
        return 0;
    s->at++;
    return 1;
}

/* A string in single or double quotes. */
static int take_string(span *s, span *out)
{
    skip_blanks(s);
    if (s->at == s->end || (*s->at != '\'' && *s->at != '"'))
        return 0;
    const char *end = memchr(s->at + 1, *s->at, (size_t)(s->end - s->at - 1));
    if (!end)
        return 0;
    *out = (span){s->at + 1, end};
    s->at = end + 1;
    return 1;
}

static int take_word(span *s, const char *word)
{
    const size_t length = strlen(word);
    skip_blanks(s);
    if ((size_t)(s->end - s->at) < length || memcmp(s->at, word, length) != 0)
        return 0;
    s->at += length;
    return 1;
}

static int is_text(span s, const char *text)
{
    return (size_t)(s.end - s.at) == strlen(text) && !memcmp(s.at, text, strlen(text));
}

/* `suffix`: it may end in an L, as Python 2 wrote some. */
static int take_length(span *s, int suffix, uint64_t *out)
{
    skip_blanks(s);
    const char *const begin = s->at;
    for (*out = 0; s->at < s->end && *s->at >= '0' && *s->at <= '9'; s->at++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, (uint64_t)(*s->at - '0'), out))
            return 0;
    if (s->at == begin)
        return 0;
    s->at += suffix && s->at < s->end && *s->at == 'L';
    return 1;
}

/* Bytes of a type of one size, such as <f4, |S5, <U5 or <M8[ns]; 0: it is none, or of too many bytes. */
static uint64_t size_of_type(span type)
{
    uint64_t size;
    if (type.end - type.at < 3 || !strchr("<>|=", *type.at) || !strchr("biufcSUVMm", type.at[1]))
        return 0;
    const char kind = type.at[1];
    type.at += 2;
    if (!take_length(&type, 0, &size) || size > ROW_MAX || (type.at < type.end && (*type.at != '[' || kind == 'V')))
        return 0;
    return kind == 'U' ? 4 * size : size;
}

/* The (2, 3) of ('name', 'type', (2, 3)). */
static int take_array(span *s, uint64_t *size)
{
    uint64_t length;
    if (!take(s, '('))
        return 0;
    while (!take(s, ')')) {
        if (!take_length(s, 0, &length) || __builtin_mul_overflow(*size, length, size))
            return 0;
        (void)take(s, ',');
    }
    return 1;
}

/* What is not a number of carom's columns has its size and type alone. */
static void add_named(npy_file *f, span name, span type, int is_array, uint64_t size)
{
    npy_named *const named = &f->named[f->named_count++];
    const size_t length = (size_t)(name.end - name.at);
    *named = (npy_named){.at = f->size, .size = size};
    if (length < NPY_NAME)
        memcpy(named->name, name.at, length);
    snprintf(named->type, sizeof named->type, "%s%.*s", is_array ? "an array of " : "", (int)(type.end - type.at),
             type.at);
}

/* ('name', 'type'), or ('name', 'type', shape); ('', '|V4') are bytes between two. */
static int take_named(npy_file *f, span *s)
{
    const char *const begin = s->at;
    span name, type;
    if (!take(s, '(') || !take_string(s, &name) || !take(s, ',') || !take_string(s, &type))
        return refuse_header(f, "names and types as descr", begin, (size_t)(s->end - begin));
    uint64_t size = size_of_type(type);
    const int is_known = size > 0 || is_text(type, "|S0") || is_text(type, "<U0"), is_array = take(s, ',');
    if (!is_known || (is_array && !take_array(s, &size)) || !take(s, ')'))
        return refuse_header(f, "names and types of one size as descr", begin, (size_t)(s->end - begin));
    if (size > ROW_MAX || f->size + size > ROW_MAX)
        return refuse_header(f, "rows of at most 1048576 bytes", begin, (size_t)(s->at - begin));
    if (name.at < name.end || type.at[1] != 'V') {
        if (f->named_count == NPY_NAMED)
            return refuse_header(f, "at most 64 names and types as descr", begin, (size_t)(s->at - begin));
        add_named(f, name, type, is_array, size);
    }
    f->size += size;
    return EXIT_DONE;
}

static int take_all_named(npy_file *f, span *s)
{
    int comma = 1;
    f->named = cli_alloc(NPY_NAMED, sizeof *f->named);
    if (!f->named)
        return cli_no_memory();
    f->size = 0;
    while (!take(s, ']')) {
        if (!comma)
            return refuse_header(f, "a list of names and types as descr", s->at, (size_t)(s->end - s->at));
        const int status = take_named(f, s);
        if (status != EXIT_DONE)
            return status;
        comma = take(s, ',');
    }
    return f->named_count > 0 && f->size > 0 ? EXIT_DONE : refuse_header(f, "a name and a type as descr", "[]", 2);
}

static int take_descr(npy_file *f, span *s)
{
    span type;
    if (f->takes_named && take(s, '['))
        return take_all_named(f, s);
    if (!take_string(s, &type))
        return refuse_header(f, "a plain number as descr", s->at, (size_t)(s->end - s->at));
    if (is_text(type, "<f4"))
        return EXIT_DONE;
    const char *what = is_text(type, "<f8")   ? "float64"
                       : is_text(type, ">f4") ? "big-endian float32"
                       : is_text(type, ">f8") ? "big-endian float64"
                                              : "another type";
    return cli_refuse(EXIT_USAGE,
                      "%s: header: expected little-endian float32 ('<f4'), got '%.*s', which is %s; convert the array "
                      "with numpy.asarray(a, '<f4')",
                      f->path, type.end - type.at < SHOWN ? (int)(type.end - type.at) : SHOWN, type.at, what);
}

static int take_order(const npy_file *f, span *s)
{
    if (take_word(s, "False"))
        return EXIT_DONE;
    if (take_word(s, "True"))
        return cli_refuse(EXIT_USAGE,
                          "%s: header: expected C order, got Fortran order; convert the array with "
                          "numpy.ascontiguousarray(a)",
                          f->path);
    return refuse_header(f, "False or True as fortran_order", s->at, (size_t)(s->end - s->at));
}

/* (), (2,) or (2, 3, 4): a comma is needed after one. */
static int take_shape(npy_file *f, span *s)
{
    int comma = 1;
    skip_blanks(s);
    const char *const begin = s->at;
    f->dimensions = 0;
    if (!take(s, '('))
        return refuse_header(f, "a tuple as shape", s->at, (size_t)(s->end - s->at));
    while (!take(s, ')')) {
        if (!comma || f->dimensions == NPY_DIMENSIONS || !take_length(s, f->major < 3, &f->shape[f->dimensions]))
            return refuse_header(f, "at most 8 whole numbers below 2^64 as shape", begin, (size_t)(s->end - begin));
        f->dimensions++;
        comma = take(s, ',');
    }
    return f->dimensions == 1 && !comma ? refuse_header(f, "a tuple as shape", begin, (size_t)(s->at - begin))
                                        : EXIT_DONE;
}

static int take_item(npy_file *f, span *s, unsigned *seen)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    const char *const begin = s->at;
    span key;
    unsigned k = 0;
    if (!take_string(s, &key) || !take(s, ':'))
        return refuse_header(f, "a key and a colon", begin, (size_t)(s->end - begin));
    while (k < 3 && !is_text(key, keys[k]))
        k++;
    if (k == 3 || *seen >> k & 1)
        return refuse_header(f, "the keys descr, fortran_order and shape, once each", key.at,
                             (size_t)(key.end - key.at));
    *seen |= 1u << k;
    return k == 0 ? take_descr(f, s) : k == 1 ? take_order(f, s) : take_shape(f, s);
}

static int read_dictionary(npy_file *f, span s)
{
    unsigned seen = 0;
    int comma = 1;
    if (!take(&s, '{'))
        return refuse_header(f, "a dictionary", s.at, (size_t)(s.end - s.at));
    while (!take(&s, '}')) {
        if (!comma)
            return refuse_header(f, "a comma", s.at, (size_t)(s.end - s.at));
        const int status = take_item(f, &s, &seen);
        if (status != EXIT_DONE)
            return status;
        comma = take(&s, ',');
    }
    skip_blanks(&s);
    if (s.at < s.end)
        return refuse_header(f, "nothing behind the dictionary", s.at, (size_t)(s.end - s.at));
    return seen == 7 ? EXIT_DONE
                     : cli_refuse(EXIT_USAGE, "%s: header: expected the keys descr, fortran_order and shape, got no %s",
                                  f->path,
                                  !(seen & 1)   ? "descr"
                                  : !(seen & 2) ? "fortran_order"
                                                : "shape");
}

/* ---- the file -----------------------------------------------------------------------------------------------------
 */

static int refuse_end(const npy_file *f)
{
    return cli_refuse(EXIT_USAGE, "%s: is no .npy file, or ends within its header", f->path);
}

/* Does the file have just the numbers that it announces? */
static int check_size(npy_file *f, uint64_t size)
{
    char shape[SHAPE_TEXT];
    uint64_t bytes = f->size;
    int beyond = 0, empty = 0;
    for (int i = 0; i < f->dimensions; i++) {
        empty |= f->shape[i] == 0;
        beyond |= __builtin_mul_overflow(bytes, f->shape[i], &bytes);
    }
    bytes = empty ? 0 : bytes;
    beyond &= !empty;
    if (!beyond && bytes == size - f->at) {
        f->count = bytes / f->size;
        return EXIT_DONE;
    }
    shape_text(f, shape);
    if (beyond)
        return cli_refuse(EXIT_USAGE, "%s: announces %s, which is more than 2^64 bytes, and has %llu behind its header",
                          f->path, shape, (unsigned long long)(size - f->at));
    return cli_refuse(EXIT_USAGE, "%s: announces %s, which is %llu bytes, and has %llu behind its header", f->path,
                      shape, (unsigned long long)bytes, (unsigned long long)(size - f->at));
}

static int read_header(npy_file *f, uint64_t size)
{
    unsigned char head[12] = {0};
    const size_t least = 10;
    if (size < least || cli_read_at(f->fd, head, size < sizeof head ? least : sizeof head, 0) != 0 ||
        memcmp(head, "\x93NUMPY", 6) != 0)
        return refuse_end(f);
    if (head[6] < 1 || head[6] > 3 || head[7] != 0)
        return cli_refuse(EXIT_USAGE, "%s: expected version 1.0, 2.0 or 3.0 of the .npy format, got %d.%d", f->path,
                          head[6], head[7]);
    f->major = head[6];
    f->at = head[6] == 1 ? 10 : 12;
    const uint64_t length =
        head[8] | (uint64_t)head[9] << 8 | (head[6] == 1 ? 0 : (uint64_t)head[10] << 16 | (uint64_t)head[11] << 24);
    if (size < f->at || length > size - f->at)
        return refuse_end(f);
    if (length > HEADER_MAX)
        return cli_refuse(EXIT_USAGE, "%s: expected a header of at most %d bytes, got %llu", f->path, HEADER_MAX,
                          (unsigned long long)length);
    char *text = cli_alloc(length, 1);
    if (!text)
        return cli_no_memory();
    int status = cli_read_at(f->fd, text, (size_t)length, f->at) == 0 ? read_dictionary(f, (span){text, text + length})
                                                                      : refuse_end(f);
    free(text);
    f->at += length;
    return status == EXIT_DONE ? check_size(f, size) : status;
}

static int open_file(npy_file *out, const char *path, int takes_named)
{
    struct stat info;
    *out = (npy_file){.path = path,
                      .takes_named = takes_named,
                      .size = sizeof(float),
                      .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    if (out->fd < 0 || fstat(out->fd, &info) != 0)
        return cli_refuse(EXIT_USAGE, "%s: cannot be opened: %s", path, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return cli_refuse(EXIT_USAGE, "%s: is no regular file, which a .npy file must be", path);
    return read_header(out, (uint64_t)info.st_size);
}

int npy_open(npy_file *out, const char *path)
{
    return open_file(out, path, 0);
}

int npy_open_rows(npy_file *out, const char *path)
{
    return open_file(out, path, 1);
}

int npy_read_rows(const npy_file *f, uint64_t from, size_t size, void *to)
{
    return cli_read_at(f->fd, to, size, f->at + from);
}

int npy_read_at(const npy_file *f, uint64_t from, uint64_t count, float *to)
{
    return cli_read_at(f->fd, to, (size_t)count * sizeof *to, f->at + from * sizeof *to);
}

int npy_refuse_read(const npy_file *f, int error)
{
    return cli_refuse(EXIT_USAGE, "%s: cannot be read: %s", f->path, strerror(error));
}

int npy_read(const npy_file *f, uint64_t from, uint64_t count, float *to)
{
    const int error = npy_read_at(f, from, count, to);
    return error ? npy_refuse_read(f, error) : EXIT_DONE;
}

void npy_close(npy_file *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
    free(f->named);
    f->named = NULL;
}

/* ---- writing ------------------------------------------------------------------------------------------------------
 */

enum { MAGIC = 10, ALIGNMENT = 64 };

/* The dictionary behind the magic is `used` bytes long with it, and filled up with blanks. Returns the whole length. */
static size_t end_header(char *to, size_t used)
{
    const size_t size = (used + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; /* with a newline */
    memset(to + used, ' ', size - used);
    memcpy(to, "\x93NUMPY\1\0", 8);
    to[8] = (char)((size - MAGIC) & 255);
    to[9] = (char)((size - MAGIC) >> 8);
    to[size - 1] = '\n';
    return size;
}

size_t npy_header(char to[NPY_HEADER], const char *type, int dimensions, const uint64_t *shape)
{
    size_t used = MAGIC;
    used += (size_t)snprintf(to + used, NPY_HEADER - used, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (int i = 0; i < dimensions; i++)
        used += (size_t)snprintf(to + used, NPY_HEADER - used, "%s%llu%s", i > 0 ? " " : "",
                                 (unsigned long long)shape[i], i + 1 < dimensions || dimensions == 1 ? "," : "");
    used += (size_t)snprintf(to + used, NPY_HEADER - used, "), }");
    return end_header(to, used);
}

size_t npy_fields_header(char to[NPY_FIELDS_HEADER], const npy_field *fields, int count, uint64_t rows)
{
    enum { DIGITS = 20 };
    size_t used = MAGIC;
    used += (size_t)snprintf(to + used, NPY_FIELDS_HEADER - used, "{'descr': [");
    for (int i = 0; i < count; i++)
        used += (size_t)snprintf(to + used, NPY_FIELDS_HEADER - used, "%s('%s', '%s')", i > 0 ? ", " : "",
                                 fields[i].name, fields[i].type);
    const int length = snprintf(to + used, NPY_FIELDS_HEADER - used, "], 'fortran_order': False, 'shape': (%llu,), }",
                                (unsigned long long)rows);
    const int digits = snprintf(NULL, 0, "%llu", (unsigned long long)rows);
    used += (size_t)length;
    memset(to + used, ' ', (size_t)(DIGITS - digits));
    return end_header(to, used + (size_t)(DIGITS - digits));
}
