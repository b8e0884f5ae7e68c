#include "tools/replay/model_tolerance.h"

#include <cmath>
#include <limits>

namespace torus::replay {

ModelTolerance::ModelTolerance(const nn::Module& model) {
  int layers = 0;
  for (const NamedVariable& parameter : model.Parameters()) {
    if (parameter.value.rank() < 2) continue;
    terms_ += parameter.value.numel() / parameter.value.dim(0);
    ++layers;
  }
  const double d = std::numeric_limits<float>::epsilon() * std::sqrt(static_cast<double>(terms_));
  relative_ = 4 * std::sqrt(0.8 * layers * d);
}

double ModelTolerance::Gradient(double norm, double largest, int64_t elements) const {
  return relative_ * norm +
         GradientFloor(DType::kF32, largest) * std::sqrt(static_cast<double>(elements));
}

}  // namespace torus::replay
