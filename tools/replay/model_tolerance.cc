#include "tools/replay/model_tolerance.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "tools/replay/compare.h"

namespace torus::replay {
namespace {

// Activations of the smallest layer with kinks: its widest convolution's channels at its output's pixels.
int64_t SmallestLayer(const nn::Sequential& model, const Shape& images) {
  int64_t smallest = std::numeric_limits<int64_t>::max();
  Shape shape = images;
  for (const nn::Sequential::Layer& layer : model.layers()) {
    shape = layer.module->Cost(shape).output;
    int64_t channels = 0;
    for (const NamedVariable& parameter : layer.module->Parameters())
      if (parameter.value.rank() == 4) channels = std::max(channels, parameter.value.dim(0));
    if (channels > 0) smallest = std::min(smallest, shape[0] * shape[1] * shape[2] * channels);
  }
  return smallest;
}

}  // namespace

ModelTolerance::ModelTolerance(const nn::Sequential& model, const Shape& images) {
  int layers = 0;
  for (const NamedVariable& parameter : model.Parameters()) {
    if (parameter.value.rank() < 2) continue;
    terms_ += parameter.value.numel() / parameter.value.dim(0);
    ++layers;
  }
  const double d = std::numeric_limits<float>::epsilon() * std::sqrt(static_cast<double>(terms_));
  const double few = std::sqrt(4 * 2.0 / static_cast<double>(SmallestLayer(model, images)));
  relative_ = 4 * std::sqrt(0.8 * layers * d) + few;
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
