#include "data/images/normalization.h"

#include <algorithm>

namespace torus::data {
namespace {

std::array<float, 256> ChannelTable(double mean, double std) {
  std::array<float, 256> table;
  for (int level = 0; level < 256; ++level) {
    table[level] = static_cast<float>((level / 255.0 - mean) / std);
  }
  return table;
}

}  // namespace

Normalizer::Normalizer(const Normalization& normalization) {
  const auto& [mean, std] = normalization;
  Require(!mean.empty() && mean.size() == std.size(), "normalization",
          "requires a mean and a std for each channel, got {} and {}", mean.size(), std.size());
  for (size_t c = 0; c < mean.size(); ++c) {
    Require(std[c] > 0, "normalization", "requires std > 0, got {} for channel {}", std[c], c);
    table_.push_back(ChannelTable(mean[c], std[c]));
  }
}

void Normalizer::Check(const Tensor& image) const {
  Require(image.rank() >= 1 && image.dim(-1) == channels() && image.is_contiguous(),
          "normalization", "requires contiguous images of {} channels, got {}", channels(), image);
  Require(image.dtype() == DType::kU8, "normalization", "requires u8 images, got {}", image);
}

Tensor Normalizer::Table() const {
  Tensor table({channels(), 256}, DType::kF32);
  float* to = table.mutable_data<float>();
  for (const auto& levels : table_) to = std::copy(levels.begin(), levels.end(), to);
  return table;
}

void Normalizer::Apply(const Tensor& image, float* out) const {
  Check(image);
  const uint8_t* const in = image.data<uint8_t>();
  const int64_t count = image.numel();
  if (channels() == 3) {
    // The common case, with the channel known to the compiler.
    const auto &red = table_[0], &green = table_[1], &blue = table_[2];
    for (int64_t i = 0; i < count; i += 3) {
      out[i] = red[in[i]];
      out[i + 1] = green[in[i + 1]];
      out[i + 2] = blue[in[i + 2]];
    }
    return;
  }
  for (int64_t i = 0; i < count; ++i) out[i] = table_[i % channels()][in[i]];
}

Tensor Normalizer::Apply(const Tensor& image) const {
  Tensor out(image.shape(), DType::kF32);
  Apply(image, out.mutable_data<float>());
  return out;
}

}  // namespace torus::data
