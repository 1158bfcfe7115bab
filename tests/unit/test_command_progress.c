/* SPDX-License-Identifier: MIT */
/* What the command's progress reports say and when, on a clock that the test sets, on a terminal and in a file. */
#include "cli/base/base.h"
#include "cli/base/progress_watch.h"
#include "tests/support/support.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

static double clock_now;

double cli_seconds(void)
{
    return clock_now;
}

/* ---- standard error, caught -------------------------------------------------------------------------------------- */

typedef struct catch
{
    int kept, end; /* the former standard error; where the text can be read */
    char text[8192];
}
catch;

static void catch_by(catch *c, int to)
{
    c->kept = dup(STDERR_FILENO);
    assert_true(c->kept >= 0 && dup2(to, STDERR_FILENO) == STDERR_FILENO);
}

/* A file. */
static void catch_begin(catch *c)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    c->end = dup(fileno(file));
    catch_by(c, c->end);
    fclose(file);
}

/* A terminal of that many columns; 0: it does not say. */
static void catch_terminal(catch *c, unsigned short columns)
{
    const struct winsize window = {.ws_row = 24, .ws_col = columns};
    c->end = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(c->end >= 0 && grantpt(c->end) == 0 && unlockpt(c->end) == 0);
    const int terminal = open(ptsname(c->end), O_RDWR | O_NOCTTY);
    assert_true(terminal >= 0 && ioctl(terminal, TIOCSWINSZ, &window) == 0);
    assert_true(setenv("TERM", "xterm", 1) == 0);
    catch_by(c, terminal);
    close(terminal);
}

static const char *catch_end(catch *c)
{
    ssize_t n = 0;
    size_t used = 0;
    if (isatty(STDERR_FILENO)) {
        fcntl(c->end, F_SETFL, O_NONBLOCK);
        while (used < sizeof c->text - 1 && (n = read(c->end, c->text + used, sizeof c->text - 1 - used)) > 0)
            used += (size_t)n;
    } else {
        n = pread(c->end, c->text, sizeof c->text - 1, 0);
        used = n > 0 ? (size_t)n : 0;
    }
    c->text[used] = '\0';
    assert_true(dup2(c->kept, STDERR_FILENO) == STDERR_FILENO);
    close(c->kept);
    close(c->end);
    return c->text;
}

static void show_at(progress *p, double seconds, uint64_t done)
{
    clock_now = seconds;
    progress_show(p, done);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void short_jobs_are_silent(void **state)
{
    (void)state;
    for (int form = PROGRESS_AUTO; form <= PROGRESS_NONE; form++)
        for (int terminal = 0; terminal < 2; terminal++) {
            catch c;
            progress p;
            if (terminal)
                catch_terminal(&c, 80);
            else
                catch_begin(&c);
            progress_choose((progress_form)form);
            clock_now = 100.0;
            progress_begin(&p, "sweep", "rows", 0, 1000);
            for (int i = 0; i < 99; i++)
                show_at(&p, 100.0 + 0.01 * i, (uint64_t)(10 * i));
            progress_end(&p);
            assert_string_equal(catch_end(&c), "");
        }
}

static void none_is_silent(void **state)
{
    catch c;
    progress p;
    (void)state;
    progress_choose(PROGRESS_NONE);
    catch_begin(&c);
    clock_now = 0.0;
    progress_begin(&p, "sweep", "rows", 0, 1000);
    show_at(&p, 5000.0, 500);
    progress_end(&p);
    assert_string_equal(catch_end(&c), "");
}

/* Without a terminal auto is plain. A line that is late does not make the next one late. */
static void lines_every_ten_seconds(void **state)
{
    (void)state;
    for (int form = PROGRESS_AUTO; form <= PROGRESS_PLAIN; form++) {
        catch c;
        progress p;
        progress_choose((progress_form)form);
        catch_begin(&c);
        clock_now = 7.0;
        progress_begin(&p, "sweep", "rows", 0, 4000000);
        show_at(&p, 16.9, 900000);
        show_at(&p, 17.5, 1050000);
        show_at(&p, 26.9, 1990000);
        show_at(&p, 27.0, 2000000);
        clock_now = 37.0;
        progress_show(&p, 4000000);
        clock_now = 47.0;
        progress_end(&p);
        assert_string_equal(catch_end(&c), "carom: sweep: 1050000 of 4000000 rows, 26 %, 100 k rows/s, 30 s left\n"
                                           "carom: sweep: 2000000 of 4000000 rows, 50 %, 100 k rows/s, 20 s left\n"
                                           "carom: sweep: 4000000 of 4000000 rows, 100 %, 133 k rows/s, 0 s left\n"
                                           "carom: sweep: 4000000 of 4000000 rows, 100 %, ended after 40 s\n");
    }
}

static void unknown_totals(void **state)
{
    catch c;
    progress p;
    (void)state;
    progress_choose(PROGRESS_PLAIN);
    catch_begin(&c);
    clock_now = 0.0;
    progress_begin(&p, "sweep", "rows", 0, 0);
    show_at(&p, 10.0, 123);
    clock_now = 7200.0;
    progress_show_share(&p, 36000, 0.25);
    progress_end(&p);
    clock_now = 0.0;
    progress_begin(&p, "bench", "scenes", 0, 20);
    show_at(&p, 100.0, 1);
    progress_end(&p);
    clock_now = 0.0;
    progress_begin(&p, "a\nb: importing", NULL, 0, 0);
    show_at(&p, 600.0, 0);
    progress_end(&p);
    assert_string_equal(catch_end(&c), "carom: sweep: 123 rows, 12.3 rows/s, 10 s\n"
                                       "carom: sweep: 36000 rows, 25 %, 5.00 rows/s, 6.0 h left\n"
                                       "carom: sweep: 36000 rows, 25 %, ended after 2.0 h\n"
                                       "carom: bench: 1 of 20 scenes, 5 %, 32 min left\n"
                                       "carom: bench: 1 of 20 scenes, 5 %, ended after 2 min\n"
                                       "carom: a\\nb: importing, 10 min\n"
                                       "carom: a\\nb: importing, ended after 10 min\n");
}

/* The rate is of this run alone: half of the work was done by an earlier one. */
static void work_done_before(void **state)
{
    catch c;
    progress p;
    (void)state;
    progress_choose(PROGRESS_PLAIN);
    catch_begin(&c);
    clock_now = 0.0;
    progress_begin(&p, "bake", "nodes", 500, 1000);
    show_at(&p, 10.0, 600);
    assert_string_equal(catch_end(&c), "carom: bake: 600 of 1000 nodes, 60 %, 10.0 nodes/s, 40 s left\n");
}

static void objects(void **state)
{
    catch c;
    progress p;
    (void)state;
    progress_choose(PROGRESS_JSON);
    catch_begin(&c);
    clock_now = 1.0;
    progress_begin(&p, "\"a\\b\"\n\xff", "rows", 0, 4);
    show_at(&p, 1.5, 0);
    show_at(&p, 2.0, 1);
    show_at(&p, 2.5, 2);
    show_at(&p, 3.0, 4);
    progress_end(&p);
    clock_now = 1.0;
    progress_begin(&p, "x", NULL, 0, 0);
    show_at(&p, 3.0, 0);
    progress_end(&p);
#define JOB "{\"job\": \"\\\"a\\\\b\\\"\\u000a\\ufffd\", \"unit\": \"rows\", "
#define UNKNOWN                                                                                           \
    "{\"job\": \"x\", \"unit\": null, \"done\": null, \"total\": null, \"share\": null, \"rate\": null, " \
    "\"seconds\": 2, \"left\": null}\n"
    assert_string_equal(
        catch_end(&c),
        JOB "\"done\": 1, \"total\": 4, \"share\": 0.25, \"rate\": 1, \"seconds\": 1, \"left\": 3}\n" JOB
            "\"done\": 4, \"total\": 4, \"share\": 1, \"rate\": 2, \"seconds\": 2, \"left\": 0}\n" JOB
            "\"done\": 4, \"total\": 4, \"share\": 1, \"rate\": 2, \"seconds\": 2, \"left\": 0}\n" UNKNOWN UNKNOWN);
}

static void a_bar_on_a_terminal(void **state)
{
    catch c;
    progress p;
    (void)state;
    progress_choose(PROGRESS_AUTO);
    catch_terminal(&c, 0);
    clock_now = 0.0;
    progress_begin(&p, "sweep", "rows", 0, 100);
    show_at(&p, 1.0, 25);
    show_at(&p, 1.1, 26);
    cli_message("%s", "a message");
    progress_clear(); /* nothing stands there */
    show_at(&p, 1.25, 50);
    progress_end(&p);
    progress_clear();
    assert_string_equal(catch_end(&c), "\rcarom: sweep [######------------------]  25 %, 25.0 rows/s, 3 s left\033[K"
                                       "\r\033[Kcarom: a message\r\n"
                                       "\rcarom: sweep [############------------]  50 %, 40.0 rows/s, 1 s left\033[K"
                                       "\r\033[K");
}

/* A line that wraps could not be taken back; a job of unknown total has no bar. */
static void a_narrow_terminal(void **state)
{
    catch c;
    progress p;
    (void)state;
    progress_choose(PROGRESS_AUTO);
    catch_terminal(&c, 21);
    clock_now = 0.0;
    progress_begin(&p, "sweep", "rows", 0, 0);
    show_at(&p, 2.0, 1000000);
    progress_leave(); /* as a signal does */
    progress_end(&p);
    assert_string_equal(catch_end(&c), "\rcarom: sweep: 100000\033[K\r\n");
}

/* The bar gives way to rate and time, then the name of the job does. */
static void a_long_job(void **state)
{
    static const unsigned short columns[] = {0, 100, 71, 65};
    static const char *const wanted[] = {
        "\rcarom: bake: reading finished slabs [##----]  33 %, 1.00 k slabs/s, 33 min left\033[K",
        "\rcarom: bake: reading finished slabs [########----------------]  33 %, 1.00 k slabs/s, 33 min left\033[K",
        "\rcarom: bake: reading finished slabs  33 %, 1.00 k slabs/s, 33 min left\033[K",
        "\rcarom: bake: reading finished  33 %, 1.00 k slabs/s, 33 min left\033[K"};
    (void)state;
    progress_choose(PROGRESS_AUTO);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        catch c;
        progress p;
        catch_terminal(&c, columns[i]);
        clock_now = 0.0;
        progress_begin(&p, "bake: reading finished slabs", "slabs", 0, 3000000);
        show_at(&p, 1000.0, 1000000);
        assert_string_equal(catch_end(&c), wanted[i]);
        progress_end(&p);
    }
}

/* It cannot take a line back. */
static void a_dumb_terminal(void **state)
{
    catch c;
    progress p;
    (void)state;
    progress_choose(PROGRESS_AUTO);
    catch_terminal(&c, 80);
    assert_true(setenv("TERM", "dumb", 1) == 0);
    clock_now = 0.0;
    progress_begin(&p, "sweep", "rows", 0, 100);
    show_at(&p, 2.0, 10);
    show_at(&p, 10.0, 50);
    assert_string_equal(catch_end(&c), "carom: sweep: 50 of 100 rows, 50 %, 5.00 rows/s, 10 s left\r\n");
}

/* Many units, each a job of its own that shows nothing; a unit of an earlier run does not count for the rate. */
static void a_job_of_jobs(void **state)
{
    catch c;
    progress whole, reading, unit;
    (void)state;
    progress_choose(PROGRESS_PLAIN);
    catch_begin(&c);
    clock_now = 0.0;
    progress_begin(&whole, "bake", "meshes", 0, 4);
    progress_gather(&whole);
    progress_found(&whole, 1);
    progress_begin(&reading, "read", "bytes", 0, 10);
    show_at(&reading, 10.0, 5);
    progress_end(&reading);
    progress_begin(&unit, "bake", "nodes", 0, 100);
    progress_is_unit(&unit);
    show_at(&unit, 20.0, 50);
    progress_end(&unit);
    show_at(&whole, 24.0, 2);
    progress_gather(NULL);
    progress_begin(&unit, "other", "nodes", 0, 100);
    show_at(&unit, 40.0, 50);
    progress_end(&unit);
    clock_now = 50.0;
    show_at(&whole, 50.0, 4);
    progress_end(&whole);
    assert_string_equal(catch_end(&c), "carom: bake: 1 of 4 meshes, 37 %, 2 min left\n"
                                       "carom: other: 50 of 100 nodes, 50 %, 3.12 nodes/s, 16 s left\n"
                                       "carom: other: 50 of 100 nodes, 50 %, ended after 16 s\n"
                                       "carom: bake: 4 of 4 meshes, 100 %, 0.06 meshes/s, 0 s left\n"
                                       "carom: bake: 4 of 4 meshes, 100 %, ended after 50 s\n");
}

/* One call of the library that says nothing. */
static void a_watched_call(void **state)
{
    catch c;
    progress p;
    progress_watch w;
    struct stat file = {.st_size = 0};
    (void)state;
    progress_choose(PROGRESS_PLAIN);
    catch_begin(&c);
    clock_now = 0.0;
    progress_begin(&p, "spheres", "spheres", 0, 100);
    clock_now = 11.0;
    progress_watch_begin(&w, &p);
    for (int i = 0; i < 6000 && file.st_size == 0; i++) {
        usleep(10000);
        assert_int_equal(fstat(c.end, &file), 0);
    }
    progress_watch_end(&w);
    clock_now = 12.0;
    progress_show(&p, 100);
    progress_end(&p);
    assert_string_equal(catch_end(&c), "carom: spheres: 0 of 100 spheres, 0 %, 11 s\n"
                                       "carom: spheres: 100 of 100 spheres, 100 %, ended after 12 s\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(short_jobs_are_silent),
        cmocka_unit_test(none_is_silent),
        cmocka_unit_test(lines_every_ten_seconds),
        cmocka_unit_test(unknown_totals),
        cmocka_unit_test(work_done_before),
        cmocka_unit_test(objects),
        cmocka_unit_test(a_bar_on_a_terminal),
        cmocka_unit_test(a_narrow_terminal),
        cmocka_unit_test(a_long_job),
        cmocka_unit_test(a_dumb_terminal),
        cmocka_unit_test(a_job_of_jobs),
        cmocka_unit_test(a_watched_call),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
