/* SPDX-License-Identifier: MIT */
/* Contacts on the meshes of the tests: queries, comparisons, and the true answers. */
#ifndef CAROM_TESTS_SUPPORT_CONTACT_ANSWERS_H
#define CAROM_TESTS_SUPPORT_CONTACT_ANSWERS_H

#include "reference/mesh.h"
#include "scenes.h"

/* What a call asks for besides its spheres. */
typedef struct contact_call {
    carom_accuracy accuracy;
    float margin, merge_within;
    const double *flat;
    const float (*own)[9]; /* of a scene, for judge_contacts: as in ref_contact_options */
    const int32_t *part;
} contact_call;

/* A whole list. */
typedef struct contact_answers {
    size_t queries, count;
    uint64_t *offsets, *query;
    int32_t *triangle, *instance; /* instance: of a scene */
    uint8_t *feature;
    float *distance, *point, *normal, *depth; /* points and normals x y z */
    uint32_t *patch;
    uint64_t by_integers;
} contact_answers;

carom_mesh_contacts_desc swept_spheres_contacts(const swept_spheres *b, const contact_call *call);
/* Room for so many records. */
contact_answers contact_answers_alloc(size_t spheres, size_t capacity);
void contact_answers_free(contact_answers *a);
carom_contact_list contact_answers_list(const contact_answers *a, size_t capacity, carom_list_totals *totals);
/* All contacts of the spheres. */
contact_answers ask_contacts(carom_mesh *mesh, const swept_spheres *b, const contact_call *call);
/* The same of the mesh of a scene, with instances. */
contact_answers ask_contacts_of_scene(carom_mesh *mesh, const swept_spheres *b, const contact_call *call);
contact_answers ask_scene_contacts(carom_context *context, const scene *s, const swept_spheres *b,
                                   const contact_call *call);
/* Fail unless all bytes agree. */
void contact_answers_compare(const swept_spheres *b, const contact_answers *expected, const contact_answers *got,
                             const char *label);
/* Fail unless the contacts of sphere i, of exact mode, are the true ones. points: the reported point of each triangle,
 * for merge_within; or NULL. */
void judge_contacts(const scene *s, const swept_spheres *b, size_t i, const contact_call *call,
                    const float (*points)[3], const contact_answers *a, const char *name);

#endif
