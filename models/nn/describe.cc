#include "models/nn/describe.h"

#include <set>

#include "autograd/node.h"

namespace torus::nn {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

std::string Row(const std::string& index, const std::string& name, const std::string& output,
                int64_t parameters, const LayerCost& cost) {
  return fmt::format("{:>5}  {:<14} {:<22} {:>11} {:>11.2f} {:>15.3f}\n", index, name, output,
                     parameters, static_cast<double>(cost.flops) / 1e6,
                     static_cast<double>(cost.activation_bytes) / kMebi);
}

// A tied parameter counts in the first layer that has it.
int64_t CountParameters(const Module& module, std::set<const void*>& counted) {
  int64_t count = 0;
  for (const NamedVariable& parameter : module.Parameters())
    if (counted.insert(parameter.value.id()).second) count += parameter.value.numel();
  return count;
}

}  // namespace

std::vector<LayerSummary> Describe(const Sequential& model, std::vector<Variable> inputs) {
  const NoGrad no_grad;
  std::vector<LayerSummary> layers;
  std::set<const void*> counted;
  for (const Sequential::Layer& layer : model.layers())
    layers.push_back({.index = static_cast<int>(layers.size()),
                      .name = layer.title,
                      .parameters = CountParameters(*layer.module, counted),
                      .cost = CostOf(*layer.module, inputs)});
  return layers;
}

double StaticCost(const LayerCost& cost) {
  constexpr double kFlopsOfByte = 8;
  return static_cast<double>(cost.flops) +
         kFlopsOfByte * static_cast<double>(cost.activation_bytes);
}

std::string ToTable(const std::vector<LayerSummary>& layers) {
  std::string table = fmt::format("{:>5}  {:<14} {:<22} {:>11} {:>11} {:>15}\n", "layer", "name",
                                  "output", "parameters", "MFLOP", "activations MiB");
  int64_t parameters = 0;
  LayerCost sum;
  for (const LayerSummary& layer : layers) {
    table += Row(std::to_string(layer.index), layer.name, ToString(layer.cost.output),
                 layer.parameters, layer.cost);
    parameters += layer.parameters;
    sum = sum.Then(layer.cost);
  }
  return table + Row("", "sum", "", parameters, sum);
}

}  // namespace torus::nn
