/* SPDX-License-Identifier: MIT */
/* When other programs disturb a run: by the load before it, the processors of the machine, and the threads of the run.
 */
#include <math.h>
#include <stdio.h>

#include "bench.h"
#include "subjects.h"

/* A load of less is the memory of what ran in the last minutes, or a process that seldom wants a processor. */
static const double TOLERATED = 0.5;

void bench_load_warning(const bench_settings *settings, double load, int processors, char text[BENCH_WARNING])
{
    const uint32_t usable = subjects_usable_threads(), asked = settings->threads > 0 ? settings->threads : usable;
    const double threads = asked < usable ? asked : usable, undisturbed = floor(processors - load + TOLERATED);

    text[0] = '\0';
    if (threads <= undisturbed)
        return;
    if (undisturbed < 1.0)
        snprintf(text, BENCH_WARNING,
                 "the load before the run was %.2f on %d processor%s: other programs run, and the times are not to be "
                 "believed",
                 load, processors, processors == 1 ? "" : "s");
    else
        snprintf(text, BENCH_WARNING,
                 "the load before the run was %.2f on %d processors: other programs run, and times of more than %.0f "
                 "thread%s are not to be believed",
                 load, processors, undisturbed, undisturbed > 1.0 ? "s" : "");
}
