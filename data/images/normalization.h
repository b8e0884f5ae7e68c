// Normalisation of images: (x / 255 - mean) / std, for each channel.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/tensor.h"

namespace torus::data {

// Mean and standard deviation of each channel, for pixels scaled to [0, 1]. Empty if no
// normalisation is known.
struct Normalization {
  std::vector<float> mean, std;  // of each channel
};

// Normalises u8 images to f32 by a table of 256 values per channel. Each value is computed in
// double and rounded once, so results do not depend on the machine's vector width.
class Normalizer {
 public:
  // Throws BadInput unless mean and std have the same number of channels, at least 1, and every std
  // is above 0.
  explicit Normalizer(const Normalization& normalization);

  int64_t channels() const { return static_cast<int64_t>(table_.size()); }  // of the normalization
  // `image` is contiguous u8 (..., C); writes image.numel() values to `out`. Throws BadInput if C
  // is not channels().
  void Apply(const Tensor& image, float* out) const;
  // The same into a new f32 tensor of the image's shape.
  Tensor Apply(const Tensor& image) const;
  // Throws BadInput unless `image` is what Apply requires, but on any device.
  void Check(const Tensor& image) const;
  // f32 (C, 256): the normalised value of each channel and level.
  Tensor Table() const;

 private:
  std::vector<std::array<float, 256>> table_;  // [channel][level]
};

}  // namespace torus::data
