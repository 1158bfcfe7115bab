/* SPDX-License-Identifier: MIT */
/* The side of the command in reading HDF5: it asks its process what is in the file, and reads plain numbers itself. */
#include "cli/base/child.h"
#include "cli/base/base.h"
#include "hdf5_child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct hdf5_input {
    int fd, socket;
    struct stat info;
    pid_t process;
    char death[HDF5_TEXT]; /* why it answers no more; empty: it does */
};

/* ---- the process --------------------------------------------------------------------------------------------------
 */

static void explain_death(hdf5_input *in)
{
    const int ended = child_wait(in->process), number = WIFSIGNALED(ended) ? WTERMSIG(ended) : 0;
    in->process = 0;
    if (number == SIGXCPU)
        snprintf(in->death, sizeof in->death, "HDF5 worked on it for longer than its limit, %d s", HDF5_SECONDS);
    else if (number == SIGKILL)
        snprintf(in->death, sizeof in->death,
                 "HDF5's process was killed, perhaps because the system has no memory left");
    else if (number != 0)
        snprintf(in->death, sizeof in->death, "HDF5 crashed on it (%s)", strsignal(number));
    else
        snprintf(in->death, sizeof in->death, "HDF5's process ended on it with status %d", WEXITSTATUS(ended));
}

/* Numbers of the answer are left in the socket. Returns 0 with hdf5_error if it failed. */
static int ask(hdf5_input *in, const hdf5_request *q, hdf5_answer *a)
{
    (void)hdf5_error(); /* of an earlier request */
    if (!in->death[0] && child_send(in->socket, q, sizeof *q) && child_receive(in->socket, a, sizeof *a)) {
        a->text[sizeof a->text - 1] = a->error[sizeof a->error - 1] = '\0';
        if (a->result < 0)
            hdf5_note(a->error);
        return a->result >= 0;
    }
    if (!in->death[0])
        explain_death(in);
    hdf5_note(in->death);
    return 0;
}

static hdf5_request request(hdf5_what what, const char *name)
{
    hdf5_request q = {.what = what};
    snprintf(q.name, sizeof q.name, "%s", name);
    return q;
}

/* Returns 0 with a note of why it cannot be started. */
static int start(hdf5_input *in, const char *path)
{
    char parent[24], name[] = "carom", hidden[] = HDF5_COMMAND;
    char *const argv[] = {name, hidden, parent, (char *)(uintptr_t)path, NULL};
    int ends[2];
    snprintf(parent, sizeof parent, "%ld", (long)getpid());
    int error = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0 ? errno : 0;
    if (!error) {
        error = child_start(argv, (const int[3]){ends[1], -1, -1}, &in->process);
        close(ends[1]);
        in->socket = ends[0];
    }
    if (error) {
        in->process = 0;
        snprintf(in->death, sizeof in->death, "no process to read it in could be started: %s", strerror(error));
        hdf5_note(in->death);
    }
    return !error;
}

hdf5_input *hdf5_open(const char *path)
{
    const hdf5_request opened = request(HDF5_OPENED, "");
    hdf5_input *in = calloc(1, sizeof *in);
    hdf5_answer a;
    (void)hdf5_error();
    if (!in)
        return NULL;
    *in = (hdf5_input){.socket = -1, .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
    const int is_open = in->fd >= 0 && fstat(in->fd, &in->info) == 0;
    if (!is_open)
        hdf5_note(strerror(errno));
    else if (start(in, path) && ask(in, &opened, &a))
        return in;
    hdf5_close_input(in);
    return NULL;
}

void hdf5_close_input(hdf5_input *in)
{
    if (!in)
        return;
    if (in->process > 0) { /* it may be at work on what it will never end */
        kill(in->process, SIGKILL);
        child_wait(in->process);
    }
    if (in->socket >= 0)
        close(in->socket);
    if (in->fd >= 0)
        close(in->fd);
    free(in);
}

/* ---- questions ----------------------------------------------------------------------------------------------------
 */

int hdf5_has(hdf5_input *in, const char *name)
{
    const hdf5_request q = request(HDF5_HAS, name);
    hdf5_answer a;
    return ask(in, &q, &a) ? a.result > 0 : -1;
}

int hdf5_only_child(hdf5_input *in, const char *group, char *name, size_t size)
{
    const hdf5_request q = request(HDF5_CHILDREN, group);
    hdf5_answer a;
    if (!ask(in, &q, &a))
        return -1;
    snprintf(name, size, "%s", a.text);
    return (int)a.result;
}

int hdf5_member(hdf5_input *in, const char *group, int number, char name[HDF5_TEXT])
{
    hdf5_request q = request(HDF5_MEMBER, group);
    hdf5_answer a;
    q.array = number;
    if (!ask(in, &q, &a))
        return -1;
    memcpy(name, a.text, sizeof a.text);
    return a.result > 0;
}

int hdf5_words(hdf5_input *in, const char *object, const char *attribute, char text[HDF5_TEXT])
{
    hdf5_request q = request(HDF5_WORDS, object);
    hdf5_answer a;
    snprintf(q.attribute, sizeof q.attribute, "%s", attribute);
    text[0] = '\0';
    if (!ask(in, &q, &a))
        return 0;
    memcpy(text, a.text, sizeof a.text);
    return 1;
}

int hdf5_open_array(hdf5_input *in, const char *name, hdf5_array *out)
{
    const hdf5_request q = request(HDF5_ARRAY, name);
    hdf5_answer a;
    *out = (hdf5_array){.in = NULL};
    if (!ask(in, &q, &a))
        return 0;
    *out = (hdf5_array){.in = in, .number = (int32_t)a.result, .form = a.form};
    hdf5_form *form = &out->form;
    form->numpy[sizeof form->numpy - 1] = form->type[sizeof form->type - 1] = '\0';
    form->fault[sizeof form->fault - 1] = '\0';
    form->is_plain &= form->device == in->info.st_dev && form->inode == in->info.st_ino;
    return 1;
}

int hdf5_is_of(const hdf5_array *array, const char *type)
{
    return !strcmp(array->form.numpy, type);
}

/* ---- numbers ------------------------------------------------------------------------------------------------------
 */

/* Rows of `run` bytes, whose beginnings are `pitch` apart. Short ones are read with what is between them. */
static int read_rows(int fd, uint64_t at, uint64_t rows, size_t run, size_t pitch, unsigned char *to)
{
    enum { SPAN = 1 << 16 };
    unsigned char span[SPAN];
    const uint64_t together = run == pitch ? rows : pitch < SPAN ? SPAN / pitch : 1;
    int error = 0;
    for (uint64_t row = 0, n; row < rows && !error; row += n) {
        n = rows - row < together ? rows - row : together;
        const size_t size = (size_t)(n - 1) * pitch + run;
        const int is_direct = run == pitch || together == 1;
        error = cli_read_at(fd, is_direct ? to + row * run : span, size, at + row * pitch);
        for (uint64_t i = 0; i < n && !is_direct && !error; i++)
            memcpy(to + (row + i) * run, span + i * pitch, run);
    }
    return error;
}

static int read_plain(const hdf5_array *array, int axes, const uint64_t *from, const uint64_t *count, void *to)
{
    const hdf5_form *form = &array->form;
    uint64_t item = form->size;
    for (int k = 2; k < axes; k++)
        item *= form->dims[k];
    const uint64_t pitch = (axes > 1 ? form->dims[1] : 1) * item, run = (axes > 1 ? count[1] : 1) * item;
    const uint64_t at = form->place + from[0] * pitch + (axes > 1 ? from[1] * item : 0);
    const int error = run > 0 ? read_rows(array->in->fd, at, count[0], (size_t)run, (size_t)pitch, to) : 0;
    if (error)
        hdf5_note(error == EIO ? "the file is shorter than it was" : strerror(error));
    return !error;
}

int hdf5_read(const hdf5_array *array, int axes, const uint64_t *from, const uint64_t *count, void *to)
{
    hdf5_request q = request(HDF5_NUMBERS, "");
    hdf5_answer a;
    (void)hdf5_error();
    if (array->form.is_plain)
        return read_plain(array, axes, from, count, to);
    q.array = array->number;
    q.bytes = array->form.size;
    for (int k = 0; k < axes; k++) {
        q.from[k] = from[k];
        q.count[k] = count[k];
        q.bytes *= count[k];
    }
    if (!ask(array->in, &q, &a))
        return 0;
    if (a.bytes == q.bytes && child_receive(array->in->socket, to, q.bytes))
        return 1;
    explain_death(array->in);
    hdf5_note(array->in->death);
    return 0;
}
