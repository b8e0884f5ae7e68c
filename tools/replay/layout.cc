#include "tools/replay/layout.h"

#include "ops/view/view.h"

namespace torus::replay {

Variable ToChannelsLast(const Variable& x) {
  Dims order{0};
  for (int i = 2; i < x.rank(); ++i) order.push_back(i);
  order.push_back(1);
  return ops::Permute(x, order);
}

Variable ToChannelsFirst(const Variable& x) {
  Dims order{0, x.rank() - 1};
  for (int i = 1; i < x.rank() - 1; ++i) order.push_back(i);
  return ops::Permute(x, order);
}

Variable WithBatch(const Variable& image) {
  return image.rank() == 3 ? ops::Unsqueeze(image, 0) : image;
}

Variable LikeInput(const Variable& result, const Variable& image) {
  return image.rank() == 3 ? ops::Squeeze(result, {0}) : result;
}

}  // namespace torus::replay
