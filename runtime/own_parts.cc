#include "runtime/own_parts.h"

#include <memory>

#include "runtime/error.h"

namespace torus {

std::vector<Tensor> OwnParts(const Tensor& whole, const std::vector<int64_t>& sizes) {
  if (!whole.defined()) return std::vector<Tensor>(sizes.size());
  TORUS_CHECK(whole.is_contiguous(), "{} has no parts that lie apart", whole);
  std::vector<Tensor> parts;
  int64_t at = 0;
  for (const int64_t size : sizes) {
    const Tensor part = whole.Narrow(0, at, size);
    const auto storage = std::make_shared<Storage>(const_cast<void*>(part.raw()), part.bytes(),
                                                   part.device(), whole.storage());
    parts.emplace_back(storage, part.shape(), part.strides(), 0, part.dtype());
    at += size;
  }
  return parts;
}

}  // namespace torus
