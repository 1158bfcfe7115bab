/* SPDX-License-Identifier: MIT */
/* The message about a driver that has died or hung: in which step and how, the last lines of its output, and what to
 * try. */
#include "probe.h"
#include "cli/base/text.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

enum { LAST_LINES = 3, LAST_BYTES = 320 };

/* The last lines, on one. What is not printable is escaped, for this goes to a terminal. */
static void add_last_words(text_buffer *t, const char *noise, size_t length)
{
    size_t begin = length, lines = 0;
    while (length > 0 && noise[length - 1] == '\n')
        length--;
    for (begin = length; begin > 0 && length - begin < LAST_BYTES; begin--)
        if (noise[begin - 1] == '\n' && ++lines == LAST_LINES)
            break;
    if (length == 0)
        return;
    text_add(t, ". Its last words: \"%s", begin > 0 && noise[begin - 1] != '\n' ? "..." : "");
    for (size_t i = begin; i < length; i++) {
        const unsigned char c = (unsigned char)noise[i];
        if (c == '\n')
            text_add(t, " | ");
        else if (c < 32 || c == 127)
            text_add(t, "\\x%02x", c);
        else
            text_add(t, "%c", c);
    }
    text_add(t, "\"");
}

static void add_end(text_buffer *t, int status, const char *ended)
{
    if (ended)
        text_add(t, "%s", ended);
    else if (WIFSIGNALED(status))
        text_add(t, "SIG%s (%s)", sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?",
                 strsignal(WTERMSIG(status)));
    else
        text_add(t, "it ended the process, status %d", WEXITSTATUS(status));
}

void probe_explain(probe_outcome *out, int status, const char *ended, const char *noise, size_t length)
{
    static const char *const doing[] = {
        [PROBE_LOADING] = "while it listed its devices", [PROBE_FOUND] = "while it listed its devices",
        [PROBE_LISTED] = "after it listed its devices",  [PROBE_OPENING] = "while the device was opened and probed",
        [PROBE_OPENED] = "after the device was closed",  [PROBE_ASKING] = "while its kernels were built and tried",
        [PROBE_ASKED] = "after its kernels were tried",  [PROBE_END] = "when the process ended"};
    const carom_device_info *device = &out->last.device;
    const char *vendors = getenv("OCL_ICD_VENDORS");
    text_buffer subject = {out->subject, sizeof out->subject, 0}, death = {out->death, sizeof out->death, 0};
    if (device->name[0])
        text_add(&subject, "OpenCL device %u, %s (%s)", device->index, device->name, device->platform);
    else if (vendors)
        text_add(&subject, "OpenCL (OCL_ICD_VENDORS=%s)", vendors);
    else
        text_add(&subject, "OpenCL");
    text_add(&death, "a driver failed %s, in a process of its own: ", doing[out->last.step]);
    add_end(&death, status, ended);
    add_last_words(&death, noise, length);
    text_add(&death, ". ");
    death.used += cli_advise(death.at + death.used, death.size - death.used, device->platform);
}
