// DeviceNormalizer: a Normalizer for images on any device.
#pragma once

#include <map>
#include <mutex>

#include "data/images/normalization.h"

namespace torus::data {

// Thread-safe.
class DeviceNormalizer {
 public:
  // Throws BadInput like Normalizer.
  explicit DeviceNormalizer(const Normalization& normalization) : normalizer_(normalization) {}

  // Normalises contiguous u8 images (..., C) to f32 on their device, in the current stream, with
  // the bits of Normalizer. Throws BadInput if C is not the number of channels.
  Tensor Apply(const Tensor& images) const;

 private:
  Tensor TableOn(Device gpu) const;

  const Normalizer normalizer_;
  mutable std::mutex mutex_;
  mutable std::map<int, Tensor> tables_;  // by GPU index, created at first use
};

}  // namespace torus::data
