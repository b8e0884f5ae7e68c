#include "tools/replay/rounding_noise.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/kernels.h"
#include "runtime/rng.h"
#include "tools/replay/compare.h"
#include "tools/replay/gradient_scale.h"

namespace torus::replay {
namespace {

std::map<std::string, Tensor> CloneBuffers(const nn::Module& model) {
  std::map<std::string, Tensor> clones;
  for (const NamedTensor& buffer : model.Buffers()) clones[buffer.name] = buffer.value.Clone();
  return clones;
}

}  // namespace

Tensor WithNoise(const NamedVariable& weight, double sign, uint64_t step) {
  const Tensor& data = weight.value.data();
  const double terms = static_cast<double>(data.numel() / data.dim(0));
  const double size = sign * std::sqrt(8 + terms / 24) * std::numeric_limits<float>::epsilon();
  const RandomStream stream({.step = step, .layer = HashName(weight.name.c_str())});
  Tensor noise = Empty(data.shape());
  FillNormal(noise, 0, 1, stream);
  const float* const normal = noise.data<float>();
  std::vector<float> values = ToVector<float>(data);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(values[i] * (1 + size * normal[i]));
  return FromVector(values, data.shape()).To(data.device());
}

RoundingNoise::RoundingNoise(const nn::Module& model, const std::function<void()>& run) {
  for (uint64_t pair = 0; pair < kPairs; ++pair)
    for (const double sign : {1.0, -1.0}) RunWithNoise(model, run, sign, pair);
}

void RoundingNoise::RunWithNoise(const nn::Module& model, const std::function<void()>& run,
                                 double sign, uint64_t pair) {
  const std::map<std::string, Tensor> exact = CloneBuffers(model);
  std::map<std::string, Tensor> before, gradients;
  for (NamedVariable parameter : model.Parameters()) {
    if (parameter.value.rank() < 2 || parameter.value.numel() == 0) continue;
    before[parameter.name] = parameter.value.data();
    parameter.value.SetData(WithNoise(parameter, sign, pair));
  }
  run();
  for (NamedVariable parameter : model.Parameters()) {
    gradients[parameter.name] = parameter.value.grad();
    parameter.value.ZeroGrad();
    if (before.contains(parameter.name)) parameter.value.SetData(before.at(parameter.name));
  }
  gradients_.push_back(std::move(gradients));
  buffers_.push_back(CloneBuffers(model));
  for (NamedTensor buffer : model.Buffers()) Copy(exact.at(buffer.name), buffer.value);
}

double RoundingNoise::Distance(const std::string& name, const Tensor& gradient) const {
  double largest = 0;
  for (const auto& gradients : gradients_)
    if (const Tensor& noisy = gradients.at(name); noisy.defined() && gradient.defined())
      largest = std::max(largest, NormOfDifference(noisy, gradient));
  return largest;
}

double RoundingNoise::Excess(const std::map<std::string, Tensor>& gradients) const {
  double largest = 0;
  for (const auto& noisy : gradients_)
    largest = std::max(largest, std::fabs(MedianExcess(noisy, gradients)));
  return largest;
}

double RoundingNoise::BufferDistance(const std::string& name) const {
  return NormOfDifference(buffers_[0].at(name), buffers_[1].at(name));
}

}  // namespace torus::replay
