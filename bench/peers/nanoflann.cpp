// SPDX-License-Identifier: MIT
// nanoflann on a cloud: a k-d tree of the centres, and around each the spheres that reach no farther than it.
#include "state.hpp"

#include <utility>
#include <vector>

#include <nanoflann.hpp>

#include "bench/plain_pairs.h"

namespace
{

struct centers {
    const peer_task &task;

    size_t kdtree_get_point_count() const
    {
        return task.count;
    }
    float kdtree_get_pt(size_t i, size_t k) const
    {
        return pairs_middle(&task, static_cast<int>(k), i);
    }
    template <typename box> bool kdtree_get_bbox(box &) const
    {
        return false;
    }
};

using tree = nanoflann::KDTreeSingleIndexAdaptor<nanoflann::L2_Simple_Adaptor<float, centers>, centers, 3, uint32_t>;

void run_tree(void *state, size_t count)
{
    const peer_task &task = *static_cast<const peer_task *>(state);
    const centers points{task};
    std::vector<std::pair<uint32_t, float>> near;
    nanoflann::SearchParams how;

    pairs_begin(&task);
    how.sorted = false;
    tree index(3, points, nanoflann::KDTreeSingleIndexAdaptorParams(16));
    index.buildIndex();
    for (size_t i = 0; i < count; i++) {
        const float reach = pairs_reach_of_ball(&task, i);
        const float at[3] = {pairs_middle(&task, 0, i), pairs_middle(&task, 1, i), pairs_middle(&task, 2, i)};
        index.radiusSearch(at, 4 * reach * reach, near, how); // the library wants the square
        for (const auto &found : near) {
            const size_t j = found.first;
            const float other = pairs_reach_of_ball(&task, j);
            if (other < reach || (!(other > reach) && i < j))
                pairs_ask(&task, i, j);
        }
    }
}

} // namespace

extern "C" const peer *nanoflann_peer(size_t index)
{
    static const peer all[] = {
        {"nanoflann", "nanoflann-radius-search-" CAROM_PEER_NANOFLANN, PEER_CLOUD, open_state<peer_task>, run_tree,
         close_state<peer_task>},
    };

    return index < sizeof all / sizeof all[0] ? &all[index] : nullptr;
}
