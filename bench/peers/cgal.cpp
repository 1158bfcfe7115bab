// SPDX-License-Identifier: MIT
// CGAL on a cloud: pairs of boxes that intersect. (A module with it is under CGAL's licence for this part, the GPL.)
#include "state.hpp"

#include <vector>

#include <CGAL/Box_intersection_d/Box_with_info_d.h>
#include <CGAL/box_intersection_d.h>

#include "bench/plain_pairs.h"

namespace
{

using box = CGAL::Box_intersection_d::Box_with_info_d<float, 3, uint32_t, CGAL::Box_intersection_d::ID_EXPLICIT>;

void run_boxes(void *state, size_t count)
{
    const peer_task &task = *static_cast<const peer_task *>(state);
    std::vector<box> boxes;

    pairs_begin(&task);
    boxes.reserve(count);
    for (size_t i = 0; i < count; i++) {
        const float r = pairs_reach(&task, i);
        float low[3], high[3];
        for (int k = 0; k < 3; k++) {
            low[k] = pairs_middle(&task, k, i) - r;
            high[k] = pairs_middle(&task, k, i) + r;
        }
        boxes.emplace_back(low, high, static_cast<uint32_t>(i));
    }
    CGAL::box_self_intersection_d(boxes.begin(), boxes.end(),
                                  [&](const box &a, const box &b) { pairs_ask(&task, a.info(), b.info()); });
}

} // namespace

extern "C" const peer *cgal_peer(size_t index)
{
    static const peer all[] = {
        {"CGAL", "cgal-box-self-intersection-" CAROM_PEER_CGAL, PEER_CLOUD, open_state<peer_task>, run_boxes,
         close_state<peer_task>},
    };

    return index < sizeof all / sizeof all[0] ? &all[index] : nullptr;
}
