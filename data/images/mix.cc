#include "data/images/mix.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace torus::data {
namespace {

// Index in the stream of a mixture of each decision.
constexpr uint64_t kWhich = 0, kTop = 1, kLeft = 2;

// The logarithm of a number of the distribution Gamma(a): of Gamma(a + 1), times u^(1 / a), so that
// a small `a` does not underflow. The key's layers have no other use.
double LogGamma(double a, RandomKey key) {
  const RandomStream normals(key);
  key.layer ^= HashName("uniform");
  const RandomStream uniforms(key);
  const double d = a + 1 - 1.0 / 3, c = 1 / std::sqrt(9 * d);
  for (uint64_t draw = 0;; ++draw) {
    const double x = normals.Normal(draw), v = std::pow(1 + c * x, 3);
    const double u = 1 - uniforms.Uniform64(2 * draw);  // above 0
    if (v <= 0 || std::log(u) >= x * x / 2 + d - d * v + d * std::log(v)) continue;
    return std::log(d * v) + std::log(1 - uniforms.Uniform64(2 * draw + 1)) / a;
  }
}

// Of a share of 1 - `share` of the image, around any pixel, cut at the edges.
Mixture Cut(double share, int64_t height, int64_t width, const RandomStream& random) {
  const double half = std::sqrt(1 - share) / 2;
  const auto side = [&](int64_t size, uint64_t index) {
    const auto reach = static_cast<int64_t>(half * static_cast<double>(size));
    const auto at = static_cast<int64_t>(random.Below(index, static_cast<uint64_t>(size)));
    return std::pair(std::max<int64_t>(at - reach, 0), std::min(at + reach, size));
  };
  const auto [top, bottom] = side(height, kTop);
  const auto [left, right] = side(width, kLeft);
  const Window window{top, left, bottom - top, right - left};
  const double taken = static_cast<double>(window.height * window.width);
  return {.share = 1 - taken / static_cast<double>(height * width), .window = window};
}

}  // namespace

double DrawBeta(double a, const RandomKey& key) {
  RandomKey other = key;
  other.layer ^= HashName("other");
  return 1 / (1 + std::exp(LogGamma(a, other) - LogGamma(a, key)));
}

Mixture DrawMixture(const MixOptions& options, int64_t height, int64_t width, uint64_t seed,
                    int64_t epoch, int64_t example) {
  RandomKey key{.seed = seed,
                .step = static_cast<uint64_t>(epoch),
                .layer = HashName("mixture"),
                .sample = static_cast<uint64_t>(example)};
  const RandomStream random(key);
  const bool both = options.mixup > 0 && options.cutmix > 0;
  const bool blends = both ? random.Below(kWhich, 2) == 0 : options.mixup > 0;
  key.layer = HashName("share of a mixture");
  const double share = DrawBeta(blends ? options.mixup : options.cutmix, key);
  return blends ? Mixture{.share = share, .blends = true} : Cut(share, height, width, random);
}

}  // namespace torus::data
