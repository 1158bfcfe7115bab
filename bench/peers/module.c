/* SPDX-License-Identifier: MIT */
/* The module's only export: the lists of its libraries, one behind the other. */
#include "libraries.h"

static peer_list_fn *const libraries[] = {
#ifdef CAROM_PEER_EMBREE
    embree_peer,    embree_collide_peer,
#endif
#ifdef CAROM_PEER_BULLET
    bullet_peer,
#endif
#ifdef CAROM_PEER_FCL
    fcl_peer,
#endif
#ifdef CAROM_PEER_CGAL
    cgal_peer,
#endif
#ifdef CAROM_PEER_NANOFLANN
    nanoflann_peer,
#endif
};

__attribute__((visibility("default"))) const peer *carom_peer(size_t index)
{
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; i++)
        for (size_t k = 0; libraries[i](k) != NULL; k++)
            if (index-- == 0)
                return libraries[i](k);
    return NULL;
}
