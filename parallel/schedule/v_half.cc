#include "parallel/schedule/v_half.h"

#include "parallel/schedule/building_block.h"
#include "parallel/schedule/v_shape.h"

namespace torus::parallel {

Schedule VHalf(const PipelineSize& size) {
  CheckVShape("v-half", size);
  const int k = size.ranks;
  const int wait = k % 2 == 0 ? 3 : 0;  // else two passes of a rank would share a slot
  BuildingBlock block{.in_flight = 2 * ((k + 2) / 2), .ahead = kPeriod * size.micro_batches};
  for (int r = 0; r < k; ++r)
    block.starts.push_back({2 * r, 3 * k - r - 2, 3 * k + wait + 2 * r - 1, 6 * k + wait - r - 2});
  return RepeatBlock("v-half", size, block);
}

}  // namespace torus::parallel
