#include "data/images/normalization.h"

#include <gtest/gtest.h>

#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

TEST(Normalizer, ScalesEachChannelForAnyNumberOfChannels) {
  for (const int64_t channels : {1, 2, 3, 4}) {
    Normalization constants;
    for (int64_t c = 0; c < channels; ++c) {
      constants.mean.push_back(0.1f * static_cast<float>(c + 1));
      constants.std.push_back(0.2f + 0.1f * static_cast<float>(c));
    }
    Tensor image({256, channels}, DType::kU8);
    for (int64_t i = 0; i < image.numel(); ++i) image.mutable_data<uint8_t>()[i] = i / channels;
    const std::vector<float> out = ToVector<float>(Normalizer(constants).Apply(image));
    for (int64_t i = 0; i < image.numel(); ++i) {
      const int64_t c = i % channels;
      const double mean = constants.mean[c], std = constants.std[c];
      EXPECT_EQ(out[i],
                static_cast<float>((static_cast<double>(i / channels) / 255.0 - mean) / std));
    }
  }
}

TEST(Normalizer, RefusesWhatDoesNotFit) {
  const Normalizer three({{0, 0, 0}, {1, 1, 1}});
  ExpectBadInput(
      [&] {
        three.Apply(Zeros({2, 2, 1}, DType::kU8));
      },
      "[normalization]", "3 channels, got u8 (2, 2, 1)");
  ExpectBadInput(
      [&] {
        three.Apply(Zeros({3, 2}, DType::kU8).Transpose(0, 1));
      },
      "[normalization]", "contiguous");
  ExpectBadInput([] { Normalizer({{0, 0}, {1}}); }, "[normalization]", "got 2 and 1");
  ExpectBadInput([] { Normalizer({{}, {}}); }, "[normalization]", "got 0 and 0");
  ExpectBadInput([] { Normalizer({{0, 0}, {1, 0}}); }, "[normalization]", "got 0 for channel 1");
}

}  // namespace
}  // namespace torus::data
