/* SPDX-License-Identifier: MIT */
/* Preloaded by verify.sh in front of the library: turns a bit of the first answer in every LIE_EVERY-th call of
 * LIE_ABOUT, as a backend would that is wrong. About TYPE-cut: says that a list had no room for anything. */
#include <carom/carom.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef carom_status first_fn(carom_mesh *, const carom_mesh_sweep_desc *, const carom_mesh_hit_result *, carom_stats *,
                              carom_error *);
typedef carom_status hits_fn(carom_mesh *, const carom_mesh_sweep_desc *, carom_hits, const carom_hit_list *,
                             carom_stats *, carom_error *);
typedef carom_status any_fn(carom_mesh *, const carom_mesh_sweep_desc *, const carom_any_result *, carom_stats *,
                            carom_error *);
typedef carom_status any_still_fn(carom_mesh *, const carom_mesh_overlap_desc *, const carom_any_result *,
                                  carom_stats *, carom_error *);
typedef carom_status overlaps_fn(carom_mesh *, const carom_mesh_overlap_desc *, const carom_hit_list *, carom_stats *,
                                 carom_error *);
typedef carom_status closest_fn(carom_mesh *, const carom_mesh_closest_desc *, const carom_mesh_closest_result *,
                                carom_stats *, carom_error *);

typedef carom_status contacts_fn(carom_mesh *, const carom_mesh_contacts_desc *, const carom_contact_list *,
                                 carom_stats *, carom_error *);
typedef carom_status pairs_fn(carom_context *, const carom_cloud_desc *, const carom_cloud_pair_list *, carom_stats *,
                              carom_error *);
typedef carom_status partners_fn(carom_context *, const carom_cloud_desc *, const carom_cloud_partner_result *,
                                 carom_stats *, carom_error *);
typedef carom_status any_partner_fn(carom_context *, const carom_cloud_desc *, const carom_any_result *, carom_stats *,
                                    carom_error *);
typedef carom_status counts_fn(carom_context *, const carom_cloud_desc *, const carom_cloud_count_result *,
                               carom_stats *, carom_error *);

/* The library's own function. */
static void find(const char *name, void *function)
{
    void *found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        abort();
    memcpy(function, &found, sizeof found);
}

/* Whether to lie now; `calls` are those of this function. */
static int lies(const char *about, unsigned long *calls)
{
    const char *name = getenv("LIE_ABOUT"), *every = getenv("LIE_EVERY");
    return name != NULL && every != NULL && strcmp(name, about) == 0 && ++*calls % strtoul(every, NULL, 10) == 0;
}

static void turn(void *answer)
{
    *(unsigned char *)answer ^= 1;
}

carom_status carom_mesh_sweep_first(carom_mesh *mesh, const carom_mesh_sweep_desc *desc,
                                    const carom_mesh_hit_result *out, carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    first_fn *ask;
    find("carom_mesh_sweep_first", &ask);
    const carom_status status = ask(mesh, desc, out, stats, err);
    if (lies("mesh-first", &calls))
        turn(out->t);
    return status;
}

carom_status carom_mesh_sweep_list(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, carom_hits which,
                                   const carom_hit_list *list, carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    hits_fn *ask;
    find("carom_mesh_sweep_list", &ask);
    const carom_status status = ask(mesh, desc, which, list, stats, err);
    if (list->totals->stored > 0 && lies("mesh-all", &calls))
        turn(list->feature);
    if (lies("mesh-all-cut", &calls))
        list->totals->complete = list->totals->stored = 0;
    return status;
}

carom_status carom_mesh_sweep_any(carom_mesh *mesh, const carom_mesh_sweep_desc *desc, const carom_any_result *out,
                                  carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    any_fn *ask;
    find("carom_mesh_sweep_any", &ask);
    const carom_status status = ask(mesh, desc, out, stats, err);
    if (lies("mesh-any", &calls))
        turn(out->hit);
    return status;
}

carom_status carom_mesh_overlap_any(carom_mesh *mesh, const carom_mesh_overlap_desc *desc, const carom_any_result *out,
                                    carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    any_still_fn *ask;
    find("carom_mesh_overlap_any", &ask);
    const carom_status status = ask(mesh, desc, out, stats, err);
    if (lies("mesh-any-still", &calls))
        turn(out->hit);
    return status;
}

carom_status carom_mesh_overlap_list(carom_mesh *mesh, const carom_mesh_overlap_desc *desc, const carom_hit_list *list,
                                     carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    overlaps_fn *ask;
    find("carom_mesh_overlap_list", &ask);
    const carom_status status = ask(mesh, desc, list, stats, err);
    if (list->totals->stored > 0 && lies("mesh-overlaps", &calls))
        turn(list->triangle);
    if (lies("mesh-overlaps-cut", &calls))
        list->totals->complete = list->totals->stored = 0;
    return status;
}

carom_status carom_mesh_closest(carom_mesh *mesh, const carom_mesh_closest_desc *desc,
                                const carom_mesh_closest_result *out, carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    closest_fn *ask;
    find("carom_mesh_closest", &ask);
    const carom_status status = ask(mesh, desc, out, stats, err);
    if (lies("mesh-closest", &calls))
        turn(out->depth);
    return status;
}

carom_status carom_mesh_contacts(carom_mesh *mesh, const carom_mesh_contacts_desc *desc, const carom_contact_list *list,
                                 carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    contacts_fn *ask;
    find("carom_mesh_contacts", &ask);
    const carom_status status = ask(mesh, desc, list, stats, err);
    if (list->totals->stored > 0 && lies("mesh-contacts", &calls))
        turn(list->feature);
    if (lies("mesh-contacts-cut", &calls))
        list->totals->complete = list->totals->stored = 0;
    return status;
}

carom_status carom_cloud_list(carom_context *context, const carom_cloud_desc *desc, const carom_cloud_pair_list *list,
                              carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    pairs_fn *ask;
    find("carom_cloud_list", &ask);
    const carom_status status = ask(context, desc, list, stats, err);
    if (list->totals->stored > 0 && lies("cloud-list", &calls))
        turn(list->t);
    return status;
}

carom_status carom_cloud_first(carom_context *context, const carom_cloud_desc *desc,
                               const carom_cloud_partner_result *out, carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    partners_fn *ask;
    find("carom_cloud_first", &ask);
    const carom_status status = ask(context, desc, out, stats, err);
    if (lies("cloud-first", &calls))
        turn(out->other);
    return status;
}

carom_status carom_cloud_any(carom_context *context, const carom_cloud_desc *desc, const carom_any_result *out,
                             carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    any_partner_fn *ask;
    find("carom_cloud_any", &ask);
    const carom_status status = ask(context, desc, out, stats, err);
    if (lies("cloud-any", &calls))
        turn(out->hit);
    return status;
}

carom_status carom_cloud_count(carom_context *context, const carom_cloud_desc *desc,
                               const carom_cloud_count_result *out, carom_stats *stats, carom_error *err)
{
    static unsigned long calls;
    counts_fn *ask;
    find("carom_cloud_count", &ask);
    const carom_status status = ask(context, desc, out, stats, err);
    if (lies("cloud-count", &calls))
        turn(out->partners);
    return status;
}
