// Random numbers for tests: the same on every machine for the same seed.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace torus::tools::labs {

class Dice {
 public:
  explicit Dice(uint64_t seed) : state_(seed) {}

  // SplitMix64 (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
  uint64_t Next() {
    state_ += 0x9E3779B97F4A7C15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    return z ^ (z >> 31);
  }
  // From `least` to `most`, both included.
  int Between(int least, int most) {
    return least + static_cast<int>(Next() % static_cast<uint64_t>(most - least + 1));
  }
  // Uniform in [0, 1).
  double Uniform() { return static_cast<double>(Next() >> 11) * 0x1p-53; }
  // Standard normal, by Box and Muller's method.
  float Normal() {
    const double radius = std::sqrt(-2 * std::log(1 - Uniform()));
    return static_cast<float>(radius * std::cos(6.283185307179586 * Uniform()));
  }
  std::vector<float> Normals(size_t count) {
    std::vector<float> values(count);
    for (float& value : values) value = Normal();
    return values;
  }

 private:
  uint64_t state_;
};

}  // namespace torus::tools::labs
