#include "parallel/schedule/v_min.h"

#include "parallel/schedule/building_block.h"
#include "parallel/schedule/v_shape.h"

namespace torus::parallel {

Schedule VMin(const PipelineSize& size) {
  CheckVShape("v-min", size);
  const int k = size.ranks;
  const int wait = k % 3 == 0 ? 2 : 0;  // else two passes of a rank would share a slot
  BuildingBlock block{.in_flight = 2 * ((k + 4) / 3), .ahead = kPeriod};
  for (int r = 0; r < k; ++r)
    block.starts.push_back({r, 2 * k - r - 1, 2 * k + wait + r, 4 * k + wait - r - 1});
  return RepeatBlock("v-min", size, block);
}

}  // namespace torus::parallel
