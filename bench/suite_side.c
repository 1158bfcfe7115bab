/* SPDX-License-Identifier: MIT */
/* Subjects that a side runs: a peer, a plain loop, or one of the library's calls. */
#include "suite.h"

void suite_side_run(void *user)
{
    side *s = user;

    if (s->peer != NULL)
        s->peer->run(s->peer_state, s->peer_count);
    else if (s->plain != NULL)
        rivals_run_plain(s);
    else if (s->pairs.subject != NULL)
        pair_call_run(&s->pairs);
    else if (s->cloud.subject != NULL)
        cloud_call_run(&s->cloud);
    else if (s->step.subject != NULL)
        step_call_run(&s->step);
    else
        mesh_call_run(&s->mesh);
}

carom_status suite_side_settle(side *s, carom_error *err)
{
    return s->pairs.subject != NULL   ? pair_call_settle(&s->pairs, err)
           : s->cloud.subject != NULL ? cloud_call_settle(&s->cloud, err)
           : s->step.subject != NULL  ? step_call_settle(&s->step, err)
                                      : mesh_call_settle(&s->mesh, err);
}

carom_status suite_side_try(side *s, carom_error *err)
{
    return s->pairs.subject != NULL   ? pair_call_try(&s->pairs, err)
           : s->cloud.subject != NULL ? cloud_call_try(&s->cloud, err)
           : s->step.subject != NULL  ? step_call_try(&s->step, err)
                                      : mesh_call_try(&s->mesh, err);
}

uint64_t suite_side_check(side *s)
{
    return s->pairs.subject != NULL   ? pair_call_check(&s->pairs)
           : s->cloud.subject != NULL ? cloud_call_check(&s->cloud)
           : s->step.subject != NULL  ? step_call_check(&s->step)
                                      : mesh_call_check(&s->mesh);
}

uint64_t suite_side_hash(const side *s)
{
    return s->pairs.subject != NULL   ? pair_call_hash(&s->pairs)
           : s->cloud.subject != NULL ? cloud_call_hash(&s->cloud)
           : s->step.subject != NULL  ? step_call_hash(&s->step)
                                      : mesh_call_hash(&s->mesh);
}

const carom_stats *suite_side_fastest(const side *s)
{
    return s->pairs.subject != NULL   ? &s->pairs.fastest
           : s->cloud.subject != NULL ? &s->cloud.fastest
           : s->step.subject != NULL  ? &s->step.fastest
                                      : &s->mesh.fastest;
}

/* Where its call has them. */
static resident **resident_of(side *s)
{
    return s->pairs.subject != NULL   ? &s->pairs.resident
           : s->cloud.subject != NULL ? &s->cloud.resident
           : s->step.subject != NULL  ? &s->step.resident
                                      : &s->mesh.resident;
}

int suite_side_is_resident(const side *s)
{
    side copy = *s;
    return *resident_of(&copy) != NULL;
}

void suite_side_free_resident(side *s)
{
    resident_free(*resident_of(s));
    *resident_of(s) = NULL;
}

uint64_t suite_side_check_from_host(const side *s)
{
    side copy = *s;
    *resident_of(&copy) = NULL;
    return suite_side_check(&copy);
}
