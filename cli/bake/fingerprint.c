/* SPDX-License-Identifier: MIT */
/* The plan as text, a line for each item. Journals, parts and volumes carry it, and equal bytes need equal texts. */
#include "bake.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bake_text_add(char *text, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, BAKE_TEXT - used, format, args); /* BAKE_TEXT holds all items at their longest */
    va_end(args);
}

static void add_arrays(char text[BAKE_TEXT], uint32_t arrays)
{
    const char *gap = "arrays ";
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (arrays & (1u << a)) {
            bake_text_add(text, "%s%s", gap, bake_arrays[a].name);
            gap = ",";
        }
    bake_text_add(text, "\n");
}

/* Returns `value`. */
static const char *value_of(const bake_plan *plan, const bake_item *item, char value[BAKE_NAME])
{
    const void *at = (const char *)&plan->parameters + item->at;
    if (item->is_sign)
        snprintf(value, BAKE_NAME, "%s", cli_sign_words[*(const carom_sign *)at]);
    else
        snprintf(value, BAKE_NAME, "%.9g", (double)*(const float *)at);
    return value;
}

void bake_fingerprint(const bake_plan *plan, char text[BAKE_TEXT])
{
    char value[BAKE_NAME];
    text[0] = '\0';
    bake_text_add(text, "carom %s\nwhat %s\nmesh %s\n", plan->version, plan->kind->name, plan->mesh);
    bake_text_add(text, "spacing %.17g\norigin %.17g,%.17g,%.17g\n", plan->lattice.spacing, plan->lattice.origin[0],
                  plan->lattice.origin[1], plan->lattice.origin[2]);
    bake_text_add(text, "dims %llu,%llu,%llu\n", (unsigned long long)plan->lattice.dims[0],
                  (unsigned long long)plan->lattice.dims[1], (unsigned long long)plan->lattice.dims[2]);
    bake_text_add(text, "slab %llu,%llu,%llu\n", (unsigned long long)plan->box[0], (unsigned long long)plan->box[1],
                  (unsigned long long)plan->box[2]);
    for (int i = 0; i < BAKE_ITEMS && plan->kind->items[i].name; i++)
        bake_text_add(text, "%s %s\n", plan->kind->items[i].name, value_of(plan, &plan->kind->items[i], value));
    add_arrays(text, plan->arrays);
    bake_text_add(text, "accuracy %s\n", plan->accuracy == CAROM_ACCURACY_EXACT ? "exact" : "fast");
    bake_text_add(text, "part %llu/%llu\n", (unsigned long long)plan->part, (unsigned long long)plan->parts);
    bake_text_add(text, "format %s", plan->format->name);
    if (plan->bits > 0)
        bake_text_add(text, " %d bits to %.9g", plan->bits, (double)plan->range);
    bake_text_add(text, "\n");
}

/* ---- reading ------------------------------------------------------------------------------------------------------
 */

int bake_text_take(const char **at, const char *name, char value[BAKE_NAME])
{
    const size_t length = strlen(name), line = strcspn(*at, "\n");
    if (strncmp(*at, name, length) != 0 || (*at)[length] != ' ' || (*at)[line] != '\n' || line - length > BAKE_NAME)
        return 0;
    memcpy(value, *at + length + 1, line - length - 1);
    value[line - length - 1] = '\0';
    *at += line + 1;
    return 1;
}

/* Exactly those that an output of the kind may have. */
static int read_arrays(const char *value, const bake_kind *kind, uint32_t *arrays)
{
    *arrays = 0;
    for (int a = 0; a < BAKE_ARRAYS; a++) {
        const size_t length = strlen(bake_arrays[a].name);
        if (strncmp(value, bake_arrays[a].name, length) != 0)
            continue;
        *arrays |= 1u << a;
        value += length;
        value += *value == ',';
    }
    return *value == '\0' && (*arrays & (1u << kind->array)) && (*arrays & ~(1u << kind->array | kind->more)) == 0;
}

int bake_word_of(const char *value, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(value, words[i]))
            return i;
    return -1;
}

static int read_numbers(const char **at, bake_plan *plan)
{
    char value[BAKE_NAME];
    unsigned long long n[3] = {0}; /* set below unless the line is wrong */
    if (!bake_text_take(at, "spacing", value))
        return 0;
    plan->lattice.spacing = strtod(value, NULL);
    if (!bake_text_take(at, "origin", value) ||
        sscanf(value, "%lf,%lf,%lf", &plan->lattice.origin[0], &plan->lattice.origin[1], &plan->lattice.origin[2]) != 3)
        return 0;
    if (!bake_text_take(at, "dims", value) || sscanf(value, "%llu,%llu,%llu", &n[0], &n[1], &n[2]) != 3)
        return 0;
    for (int k = 0; k < 3; k++)
        plan->lattice.dims[k] = n[k];
    return n[0] > 0 && n[1] > 0 && n[2] > 0 && n[0] <= BAKE_NODES_MAX / n[1] && n[0] * n[1] <= BAKE_NODES_MAX / n[2] &&
           bake_text_take(at, "slab", value); /* bake_plan_cut says it */
}

static int read_items(const char **at, bake_plan *plan)
{
    char value[BAKE_NAME];
    for (int i = 0; i < BAKE_ITEMS && plan->kind->items[i].name; i++) {
        const bake_item *item = &plan->kind->items[i];
        void *to = (char *)&plan->parameters + item->at;
        if (!bake_text_take(at, item->name, value))
            return 0;
        const int sign = item->is_sign ? bake_word_of(value, cli_sign_words, CLI_SIGNS) : 0;
        if (sign < 0)
            return 0;
        if (item->is_sign)
            *(carom_sign *)to = (carom_sign)sign;
        else
            *(float *)to = strtof(value, NULL);
    }
    return 1;
}

/* Its name, and how distances are stored if they are not binary32. */
static int read_format(char value[BAKE_NAME], bake_plan *plan)
{
    char *more = strchr(value, ' ');
    if (more)
        *more++ = '\0';
    plan->format = bake_format_named(value);
    if (!more)
        return plan->format != NULL;
    return plan->format != NULL && plan->kind->array == BAKE_distance &&
           sscanf(more, "%d bits to %f", &plan->bits, &plan->range) == 2 && (plan->bits == 8 || plan->bits == 16) &&
           plan->range > 0.0f && isfinite(plan->range);
}

static int read_words(const char **at, bake_plan *plan)
{
    static const char *const accuracies[] = {"fast", "exact"};
    char value[BAKE_NAME];
    unsigned long long part, parts;
    if (!read_items(at, plan) || !bake_text_take(at, "arrays", value) ||
        !read_arrays(value, plan->kind, &plan->arrays) || !bake_text_take(at, "accuracy", value))
        return 0;
    plan->accuracy = bake_word_of(value, accuracies, 2) == 1 ? CAROM_ACCURACY_EXACT : CAROM_ACCURACY_FAST;
    if (!bake_text_take(at, "part", value) || sscanf(value, "%llu/%llu", &part, &parts) != 2 || part < 1 ||
        part > parts || parts > BAKE_NODES_MAX)
        return 0;
    plan->part = part;
    plan->parts = parts;
    return bake_text_take(at, "format", value) && read_format(value, plan);
}

int bake_fingerprint_read(const char *text, bake_plan *plan)
{
    char value[BAKE_NAME], again[BAKE_TEXT];
    const char *at = text;
    *plan = (bake_plan){0};
    if (!bake_text_take(&at, "carom", plan->version) || !bake_text_take(&at, "what", value) ||
        (plan->kind = bake_kind_named(value)) == NULL || !bake_text_take(&at, "mesh", plan->mesh) ||
        !read_numbers(&at, plan) || !read_words(&at, plan))
        return 0;
    bake_plan_cut(plan);
    bake_fingerprint(plan, again);
    return !strcmp(text, again); /* numbers round-trip, so nothing was misread */
}

/* ---- comparing ----------------------------------------------------------------------------------------------------
 */

int bake_fingerprint_compare(const char *there, const char *here, const char *but, char *words, size_t size)
{
    int count = 0;
    size_t used = 0;
    while (*there != '\0' || *here != '\0') {
        const int a = (int)strcspn(there, "\n"), b = (int)strcspn(here, "\n"), name = (int)strcspn(here, " \n");
        const int may = but && !strncmp(here, but, (size_t)name) && but[name] == '\0';
        if (!may && (a != b || strncmp(there, here, (size_t)a) != 0)) {
            const int known = !strncmp(there, here, (size_t)name) ? name + (here[name] == ' ') : 0;
            if (used < size)
                used += (size_t)snprintf(words + used, size - used, "%s%.*s (there %.*s)", count > 0 ? ", " : "", b,
                                         here, a - known, there + known);
            count++;
            if (!strncmp(here, "what ", 5)) /* of another kind all that follows has other names */
                break;
        }
        there += there[a] == '\n' ? a + 1 : a;
        here += here[b] == '\n' ? b + 1 : b;
    }
    return count;
}

/* ---- as options ---------------------------------------------------------------------------------------------------
 */

void bake_describe(const bake_plan *plan, char line[BAKE_TEXT])
{
    const char *gap = " --with ";
    char value[BAKE_NAME];
    line[0] = '\0';
    bake_text_add(line, "%s --spacing %.17g", plan->kind->name, plan->lattice.spacing);
    for (int k = 0; k < plan->kind->axes; k++)
        bake_text_add(line, "%s%.17g", k == 0 ? " --origin " : ",", plan->lattice.origin[k]);
    for (int k = 0; k < plan->kind->axes; k++)
        bake_text_add(line, "%s%llu", k == 0 ? " --dims " : ",", (unsigned long long)plan->lattice.dims[k]);
    for (int i = 0; i < BAKE_ITEMS && plan->kind->items[i].name; i++)
        bake_text_add(line, " --%s %s", plan->kind->items[i].name, value_of(plan, &plan->kind->items[i], value));
    for (int a = 0; a < BAKE_ARRAYS; a++)
        if (plan->arrays & plan->kind->more & (1u << a)) {
            bake_text_add(line, "%s%s", gap, bake_arrays[a].name);
            gap = ",";
        }
    if (plan->bits > 0)
        bake_text_add(line, " --bits %d", plan->bits);
    bake_text_add(line, " --accuracy %s", plan->accuracy == CAROM_ACCURACY_EXACT ? "exact" : "fast");
    if (plan->format == &bake_format_part)
        bake_text_add(line, " --part %llu/%llu", (unsigned long long)plan->part, (unsigned long long)plan->parts);
    bake_text_add(line, " --mesh %s", plan->mesh);
}
