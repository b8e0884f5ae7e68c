#include "tools/replay/tolerance.h"

#include <cmath>
#include <limits>

namespace torus::replay {
namespace {

constexpr double kFunctions = 8, kSums = 4;

double Epsilon(DType dtype) {
  switch (dtype) {
    case DType::kF64:
      return std::numeric_limits<double>::epsilon();
    case DType::kF32:
      return std::numeric_limits<float>::epsilon();
    case DType::kBF16:
      return std::ldexp(1.0, -7);
    case DType::kF16:
      return std::ldexp(1.0, -10);
    default:
      return 0;  // integers and truth values are exact
  }
}

}  // namespace

double Tolerance(DType dtype, double want, const Origin& origin) {
  const double root = std::sqrt(static_cast<double>(origin.terms));
  return Epsilon(dtype) * (kFunctions * std::fabs(want) + kSums * root * origin.scale) +
         origin.noise;
}

double GradientFloor(DType dtype, double largest_gradient) {
  return kFunctions * Epsilon(dtype) * largest_gradient;
}

}  // namespace torus::replay
