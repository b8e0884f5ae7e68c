#include "data/images/augment.h"

#include <algorithm>
#include <cmath>

#include "data/images/crop.h"
#include "data/images/resize.h"

namespace torus::data {
namespace {

// The indices in the stream that each decision reads: 0 to 2 for the simple ones, 4 t + 4 to 4 t +
// 7 for try t of the resized crop.
constexpr uint64_t kFlip = 0, kTop = 1, kLeft = 2;
constexpr int kTries = 10;
constexpr double kSmallest = 0.08, kMostRatio = 4.0 / 3.0;

Tensor ToSize(const Tensor& image, int64_t height, int64_t width) {
  return image.dim(0) == height && image.dim(1) == width ? image : Resize(image, height, width);
}

Tensor MaybeFlip(const Tensor& image, const RandomStream& random) {
  return random.Below(kFlip, 2) == 1 ? FlipHorizontal(image) : image;
}

// A shift in -most .. most.
int64_t Move(int64_t most, uint64_t index, const RandomStream& random) {
  return static_cast<int64_t>(random.Below(index, 2 * most + 1)) - most;
}

Tensor MovedCrop(const Tensor& image, const RandomStream& random) {
  const int64_t height = image.dim(0), width = image.dim(1);
  return Crop(image, Move(height / 8, kTop, random), Move(width / 8, kLeft, random), height, width);
}

Window LargestCentered(int64_t height, int64_t width) {
  const double w = static_cast<double>(width), h = static_cast<double>(height);
  const auto crop_w = std::min(width, static_cast<int64_t>(std::nearbyint(h * kMostRatio)));
  const auto crop_h = std::min(height, static_cast<int64_t>(std::nearbyint(w * kMostRatio)));
  return {(height - crop_h) / 2, (width - crop_w) / 2, crop_h, crop_w};
}

struct Named {
  std::string name, about;
  std::function<Augment(int64_t, int64_t)> make;
};

Augment None(int64_t h, int64_t w) {
  return [h, w](const Tensor& image, const RandomStream&) { return ToSize(image, h, w); };
}

Augment Flip(int64_t h, int64_t w) {
  return [h, w](const Tensor& image, const RandomStream& random) {
    return MaybeFlip(ToSize(image, h, w), random);
  };
}

Augment CropFlip(int64_t h, int64_t w) {
  return [h, w](const Tensor& image, const RandomStream& random) {
    return MaybeFlip(MovedCrop(ToSize(image, h, w), random), random);
  };
}

Augment ResizedCropFlip(int64_t h, int64_t w) {
  return [h, w](const Tensor& image, const RandomStream& random) {
    const Window window = RandomResizedCrop(image.dim(0), image.dim(1), random);
    const Tensor part = Crop(image, window.top, window.left, window.height, window.width);
    return MaybeFlip(ToSize(part, h, w), random);
  };
}

const std::vector<Named>& All() {
  static const std::vector<Named> all = {
      {"none", "only resized", None},
      {"flip", "flipped horizontally with probability 1/2", Flip},
      {"crop-flip", "shifted by up to an eighth of the size, then flip", CropFlip},
      {"resized-crop-flip", "a random part with 8 to 100 % of the area, resized, then flip",
       ResizedCropFlip}};
  return all;
}

}  // namespace

RandomStream AugmentStream(uint64_t seed, int64_t epoch, int64_t example) {
  return RandomStream({.seed = seed,
                       .step = static_cast<uint64_t>(epoch),
                       .layer = HashName("data.augment"),
                       .sample = static_cast<uint64_t>(example)});
}

std::vector<std::string> AugmentNames() {
  std::vector<std::string> names;
  for (const Named& named : All()) names.push_back(named.name);
  return names;
}

std::vector<std::pair<std::string, std::string>> AugmentDescriptions() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const Named& named : All()) all.emplace_back(named.name, named.about);
  return all;
}

Augment MakeAugment(const std::string& name, int64_t height, int64_t width) {
  Require(height >= 1 && width >= 1, "augment", "requires a size of at least 1 x 1, got {} x {}",
          height, width);
  for (const Named& named : All()) {
    if (named.name == name) return named.make(height, width);
  }
  Throw<BadInput>("augment", "requires one of {}, got '{}'", fmt::join(AugmentNames(), ", "), name);
}

Window RandomResizedCrop(int64_t height, int64_t width, const RandomStream& random) {
  const double area = static_cast<double>(height) * static_cast<double>(width);
  for (uint64_t t = 0; t < kTries; ++t) {
    const double part = area * (kSmallest + (1 - kSmallest) * random.Uniform64(4 * t + 4));
    const double ratio = std::exp((2 * random.Uniform64(4 * t + 5) - 1) * std::log(kMostRatio));
    const auto w = static_cast<int64_t>(std::nearbyint(std::sqrt(part * ratio)));
    const auto h = static_cast<int64_t>(std::nearbyint(std::sqrt(part / ratio)));
    if (w < 1 || h < 1 || w > width || h > height) continue;
    return {static_cast<int64_t>(random.Below(4 * t + 6, height - h + 1)),
            static_cast<int64_t>(random.Below(4 * t + 7, width - w + 1)), h, w};
  }
  return LargestCentered(height, width);
}

}  // namespace torus::data
