// DeviceNormalizer: a Normalizer wherever the images lie.
#pragma once

#include <map>
#include <mutex>

#include "data/images/normalization.h"

namespace torus::data {

// Any number of threads may use one.
class DeviceNormalizer {
 public:
  // BadInput as Normalizer.
  explicit DeviceNormalizer(const Normalization& normalization) : normalizer_(normalization) {}

  // Contiguous u8 images (..., C) as normalised f32, where they lie, in the current stream: the
  // bits of Normalizer. BadInput when C is another.
  Tensor Apply(const Tensor& images) const;

 private:
  Tensor TableOn(Device gpu) const;

  const Normalizer normalizer_;
  mutable std::mutex mutex_;
  mutable std::map<int, Tensor> tables_;  // by GPU, made when it is first asked for
};

}  // namespace torus::data
