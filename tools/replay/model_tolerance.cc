#include "tools/replay/model_tolerance.h"

#include <algorithm>
#include <cmath>

#include "tools/replay/compare.h"

namespace torus::replay {

ModelTolerance::ModelTolerance(const nn::Module& model, const std::function<Tensor()>& run)
    : noise_(model, [&] { outputs_.push_back(run()); }) {
  // The two runs of a pair differ by twice the noise, which is two deviations: four are allowed.
  const double size = LargestMagnitude(outputs_[0]) * std::sqrt(outputs_[0].numel());
  const double noise = NormOfDifference(outputs_[0], outputs_[1]) / size;
  if (std::isfinite(noise)) noise_of_output_ = noise;
  for (const NamedVariable& parameter : model.Parameters())
    if (parameter.value.rank() >= 2)
      terms_ += parameter.value.numel() / std::max<int64_t>(1, parameter.value.dim(0));
}

double ModelTolerance::Statistic(const std::string& name, double norm) const {
  // The batch's own is a mean over all places of a channel; the noise counts as that of the
  // outputs.
  return Tolerance(DType::kF32, norm, {1, norm}) + noise_.BufferDistance(name);
}

double ModelTolerance::Gradient(const std::map<std::string, Tensor>& gradients, double largest,
                                const std::string& name, const Tensor& ours) const {
  const Tensor& gradient = gradients.at(name);
  double norm = Norm(gradient);
  if (gradient.rank() == 1 && name.ends_with(".weight")) {
    const auto bias = gradients.find(name.substr(0, name.size() - 6) + "bias");
    if (bias != gradients.end()) norm = std::max(norm, Norm(bias->second));
  }
  const double root = std::sqrt(static_cast<double>(gradient.numel()));
  // Forward and backward: twice the terms. `norm` stands for both the value and its partial sums.
  const double smooth = Tolerance(DType::kF32, norm, {2 * terms_, norm});
  return smooth + 2 * noise_.Distance(name, ours) + GradientFloor(DType::kF32, largest) * root;
}

double ModelTolerance::Excess(const std::map<std::string, Tensor>& ours) const {
  return Tolerance(DType::kF32, 1, {2 * terms_, 1}) + 2 * noise_.Excess(ours);
}

}  // namespace torus::replay
