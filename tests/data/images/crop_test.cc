#include "data/images/crop.h"

#include <gtest/gtest.h>

#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

// Pixel (y, x), channel c is 100 y + 10 x + c.
Tensor Image(int64_t height, int64_t width) {
  Tensor image({height, width, 2}, DType::kF32);
  float* next = image.mutable_data<float>();
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < 2; ++c) *next++ = static_cast<float>(100 * y + 10 * x + c);
    }
  }
  return image;
}

// What Crop must give, pixel by pixel.
std::vector<float> Window(int64_t height, int64_t width, int64_t top, int64_t left, int64_t h,
                          int64_t w) {
  std::vector<float> out;
  for (int64_t y = top; y < top + h; ++y) {
    for (int64_t x = left; x < left + w; ++x) {
      const bool inside = y >= 0 && y < height && x >= 0 && x < width;
      for (int64_t c = 0; c < 2; ++c) {
        out.push_back(inside ? static_cast<float>(100 * y + 10 * x + c) : 0.0f);
      }
    }
  }
  return out;
}

TEST(Crop, GivesEveryWindowInsideAndAcrossTheEdges) {
  const Tensor image = Image(3, 4);
  for (int64_t top = -4; top <= 4; ++top) {
    for (int64_t left = -5; left <= 5; ++left) {
      const Tensor part = Crop(image, top, left, 2, 3);
      EXPECT_TRUE(part.is_contiguous());
      EXPECT_EQ(ToVector<float>(part), Window(3, 4, top, left, 2, 3)) << top << ", " << left;
    }
  }
  EXPECT_EQ(ToVector<float>(Crop(image, -1, -1, 5, 6)), Window(3, 4, -1, -1, 5, 6));
}

TEST(CenterCrop, RoundsAHalfToEvenAsTorchvisionDoes) {
  const Tensor image = Image(8, 8);
  EXPECT_EQ(ToVector<float>(CenterCrop(image, 4, 2)), Window(8, 8, 2, 3, 4, 2));
  EXPECT_EQ(ToVector<float>(CenterCrop(image, 7, 5)), Window(8, 8, 0, 2, 7, 5));  // 0.5, 1.5
  EXPECT_EQ(ToVector<float>(CenterCrop(image, 10, 8)), Window(8, 8, -1, 0, 10, 8));
}

TEST(FlipHorizontal, MirrorsPixelsNotChannels) {
  const Tensor image = FromVector<uint8_t>({1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {2, 3, 2});
  const Tensor flipped = FlipHorizontal(image);
  EXPECT_EQ(ToVector<uint8_t>(flipped), (Bytes{5, 6, 3, 4, 1, 2, 11, 12, 9, 10, 7, 8}));
  EXPECT_EQ(ToVector<uint8_t>(FlipHorizontal(flipped)), ToVector<uint8_t>(image));
}

TEST(Crop, RefusesWhatIsNoImage) {
  ExpectBadInput([] { Crop(Zeros({2, 2}), 0, 0, 1, 1); }, "[crop]", "(2, 2)");
  ExpectBadInput([] { Crop(Image(2, 2), 0, 0, 0, 1); }, "[crop]", "0 x 1");
  ExpectBadInput([] { FlipHorizontal(Zeros({2})); }, "[flip]", "(2)");
}

}  // namespace
}  // namespace torus::data
