// Normalisation of images: (x / 255 - mean) / std, a channel at a time.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/tensor.h"

namespace torus::data {

// Mean and standard deviation of each channel, of pixels scaled to [0, 1]. Empty: no normalisation
// is known.
struct Normalization {
  std::vector<float> mean, std;
};

// Turns u8 images into normalised f32 through a table of 256 values a channel, each computed in
// double and rounded once: results do not depend on the machine's vector width.
class Normalizer {
 public:
  // BadInput unless mean and std have the same number of channels, at least 1, and every std is
  // above 0.
  explicit Normalizer(const Normalization& normalization);

  int64_t channels() const { return static_cast<int64_t>(table_.size()); }
  // `image` is contiguous u8 (..., C); writes image.numel() values to `out`. BadInput when C is not
  // channels().
  void Apply(const Tensor& image, float* out) const;
  // The same into a new f32 tensor of the image's shape.
  Tensor Apply(const Tensor& image) const;
  // BadInput unless `image` is as Apply takes it, on whatever device.
  void Check(const Tensor& image) const;
  // f32 (C, 256): what each level of each channel becomes.
  Tensor Table() const;

 private:
  std::vector<std::array<float, 256>> table_;  // [channel][level]
};

}  // namespace torus::data
