#include "tools/ledger/cache.h"

#include <algorithm>

namespace torus::ledger {

double Cache::BytesOf(const void* tensor) const {
  const auto found = std::ranges::find(held_, tensor, &Held::tensor);
  return found == held_.end() ? 0 : found->bytes;
}

void Cache::Hold(const TensorBytes& tensor) {
  held_.remove_if([&](const Held& held) { return held.tensor == tensor.tensor; });
  if (tensor.moved <= bytes_) held_.push_front({tensor.tensor, tensor.moved});
  double sum = 0;
  for (auto held = held_.begin(); held != held_.end();) {
    sum += held->bytes;
    held = sum > bytes_ ? held_.erase(held) : std::next(held);
  }
}

double Cache::Use(const Work& work) {
  double there = 0;
  for (const TensorBytes& tensor : work.read)
    there += std::min(tensor.moved, BytesOf(tensor.tensor));
  for (const auto* side : {&work.read, &work.written})
    for (const TensorBytes& tensor : *side) Hold(tensor);
  return there;
}

}  // namespace torus::ledger
