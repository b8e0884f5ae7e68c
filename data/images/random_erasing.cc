#include "data/images/random_erasing.h"

#include <cmath>

namespace torus::data {
namespace {

constexpr int kTries = 10;
constexpr double kSmallest = 0.02, kLargest = 0.33, kLeastRatio = 0.3, kMostRatio = 3.3;

}  // namespace

RandomStream ErasingStream(uint64_t seed, int64_t epoch, int64_t example) {
  return RandomStream({.seed = seed,
                       .step = static_cast<uint64_t>(epoch),
                       .layer = HashName("random erasing"),
                       .sample = static_cast<uint64_t>(example)});
}

std::optional<Window> RandomErasing(double probability, int64_t height, int64_t width,
                                    const RandomStream& random) {
  if (random.Uniform64(0) >= probability) return std::nullopt;
  const auto area = static_cast<double>(height * width);
  for (uint64_t t = 0; t < kTries; ++t) {
    const uint64_t first = 4 * t + 4;
    const double erased = area * std::lerp(kSmallest, kLargest, random.Uniform64(first));
    const double ratio = std::exp(
        std::lerp(std::log(kLeastRatio), std::log(kMostRatio), random.Uniform64(first + 1)));
    const auto h = static_cast<int64_t>(std::nearbyint(std::sqrt(erased * ratio)));
    const auto w = static_cast<int64_t>(std::nearbyint(std::sqrt(erased / ratio)));
    if (h >= height || w >= width) continue;
    const auto place = [&](uint64_t index, int64_t room) {
      return static_cast<int64_t>(random.Below(index, static_cast<uint64_t>(room + 1)));
    };
    return Window{place(first + 2, height - h), place(first + 3, width - w), h, w};
  }
  return std::nullopt;
}

}  // namespace torus::data
