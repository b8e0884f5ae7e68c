#include "tools/replay/model_tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/replay/compare.h"

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

double ModelTolerance::Gradient(const std::map<std::string, Tensor>& gradients,
                                const std::string& name) const {
  const Tensor& gradient = gradients.at(name);
  double norm = Norm(gradient), largest = 0;
  if (gradient.rank() == 1 && name.ends_with(".weight")) {
    const auto bias = gradients.find(name.substr(0, name.size() - 6) + "bias");
    if (bias != gradients.end()) norm = std::max(norm, Norm(bias->second));
  }
  for (const auto& [other, tensor] : gradients)
    largest = std::max(largest, LargestMagnitude(tensor));
  const double root = std::sqrt(static_cast<double>(gradient.numel()));
  return relative_ * norm + GradientFloor(DType::kF32, largest) * root;
}

}  // namespace torus::replay
