#include "data/images/augment.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "data/images/crop.h"
#include "data/images/resize.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

// No two pixels equal, none black.
Tensor Image(int64_t height, int64_t width) {
  Tensor image({height, width, 1}, DType::kU8);
  for (int64_t i = 0; i < image.numel(); ++i) image.mutable_data<uint8_t>()[i] = i + 1;
  return image;
}

// A key to compare and order images by.
std::string Pixels(const Tensor& image) {
  return {static_cast<const char*>(image.raw()), image.bytes()};
}

std::string Augmented(const std::string& name, const Tensor& image, int64_t example,
                      int64_t epoch = 0) {
  const Augment augment = MakeAugment(name, image.dim(0), image.dim(1));
  return Pixels(augment(image, AugmentStream(1, epoch, example)));
}

TEST(Augment, NoneChangesTheSizeAlone) {
  const Tensor image = Image(8, 8);
  EXPECT_EQ(Augmented("none", image, 0), Pixels(image));
  const Tensor small = MakeAugment("none", 3, 5)(image, AugmentStream(1, 0, 0));
  EXPECT_EQ(Pixels(small), Pixels(Resize(image, 3, 5)));
}

TEST(Augment, FlipIsACoinOfEachExample) {
  const Tensor image = Image(2, 2);
  const std::string same = Pixels(image), mirrored = Pixels(FlipHorizontal(image));
  int flips = 0;
  for (int64_t example = 0; example < 1000; ++example) {
    const std::string got = Augmented("flip", image, example);
    ASSERT_TRUE(got == same || got == mirrored);
    flips += got == mirrored ? 1 : 0;
  }
  EXPECT_NEAR(flips, 500, 6 * std::sqrt(250.0));  // six standard deviations
}

// All 3 x 3 moves of an 8 x 8 image, each mirrored or not, and nothing else, appear.
TEST(Augment, CropFlipMovesByUpToAnEighth) {
  const Tensor image = Image(8, 8);
  std::map<std::string, int> wanted;
  for (int64_t top = -1; top <= 1; ++top) {
    for (int64_t left = -1; left <= 1; ++left) {
      const Tensor moved = Crop(image, top, left, 8, 8);
      wanted[Pixels(moved)] = wanted[Pixels(FlipHorizontal(moved))] = 0;
    }
  }
  ASSERT_EQ(wanted.size(), 18u);
  for (int64_t example = 0; example < 1800; ++example) {
    const auto found = wanted.find(Augmented("crop-flip", image, example));
    ASSERT_NE(found, wanted.end());
    ++found->second;
  }
  for (const auto& [pixels, count] : wanted) EXPECT_NEAR(count, 100, 6 * std::sqrt(95.0));
}

TEST(Augment, DrawsBySeedEpochAndExample) {
  const Tensor image = Image(16, 15);
  for (const std::string name : {"crop-flip", "resized-crop-flip"}) {
    std::set<std::string> examples, epochs;
    for (int64_t i = 0; i < 10; ++i) {
      EXPECT_EQ(Augmented(name, image, i), Augmented(name, image, i));
      examples.insert(Augmented(name, image, i));
      epochs.insert(Augmented(name, image, 0, i));
    }
    EXPECT_GE(examples.size(), 5u);
    EXPECT_GE(epochs.size(), 5u);
  }
}

TEST(Augment, ResizedCropGivesTheModelsSize) {
  const Augment augment = MakeAugment("resized-crop-flip", 6, 9);
  EXPECT_EQ(augment(Image(15, 11), AugmentStream(1, 0, 0)).shape(), (Shape{6, 9, 1}));
}

TEST(RandomResizedCrop, KeepsAreaAndRatioAndStaysInside) {
  constexpr int64_t kHeight = 300, kWidth = 400;
  double areas = 0;
  constexpr int kRuns = 4000;
  for (int64_t example = 0; example < kRuns; ++example) {
    const Window w = RandomResizedCrop(kHeight, kWidth, AugmentStream(2, 0, example));
    ASSERT_GE(w.top, 0);
    ASSERT_GE(w.left, 0);
    ASSERT_LE(w.top + w.height, kHeight);
    ASSERT_LE(w.left + w.width, kWidth);
    // Each side is rounded to a pixel: half a pixel of the shortest side, sqrt(0.08 * 120000 * 3 /
    // 4) = 84, is 0.6 %.
    const double part = static_cast<double>(w.height * w.width) / (kHeight * kWidth);
    const double ratio = static_cast<double>(w.width) / static_cast<double>(w.height);
    ASSERT_GE(part, 0.08 * 0.988);
    ASSERT_GE(ratio, 3.0 / 4.0 * 0.988);
    ASSERT_LE(ratio, 4.0 / 3.0 * 1.012);
    areas += part;
  }
  // The areas are uniform on [0.08, 1] but for the large ones that do not fit at every ratio.
  EXPECT_GT(areas / kRuns, 0.40);
  EXPECT_LT(areas / kRuns, 0.54);
}

TEST(RandomResizedCrop, FallsBackToTheLargestCenteredWindow) {
  const RandomStream random = AugmentStream(1, 0, 0);
  EXPECT_EQ(RandomResizedCrop(1000, 9, random), (Window{494, 0, 12, 9}));
  EXPECT_EQ(RandomResizedCrop(9, 1000, random), (Window{0, 494, 9, 12}));
  EXPECT_EQ(RandomResizedCrop(1, 1, random), (Window{0, 0, 1, 1}));
}

TEST(Augment, ListsTheNamesItKnows) {
  EXPECT_EQ(MessageOf<BadInput>([] { MakeAugment("mixup", 4, 4); }),
            "[augment] requires one of none, flip, crop-flip, resized-crop-flip, got 'mixup'");
  ExpectBadInput([] { MakeAugment("none", 0, 4); }, "[augment]", "0 x 4");
}

}  // namespace
}  // namespace torus::data
