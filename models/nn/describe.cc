#include "models/nn/describe.h"

#include <set>

namespace torus::nn {
namespace {

constexpr double kMebi = 1024.0 * 1024.0;

std::string Row(const std::string& index, const std::string& name, const std::string& output,
                int64_t parameters, const LayerCost& cost) {
  return fmt::format("{:>5}  {:<14} {:<22} {:>11} {:>11.2f} {:>15.3f}\n", index, name, output,
                     parameters, static_cast<double>(cost.flops) / 1e6,
                     static_cast<double>(cost.activation_bytes) / kMebi);
}

// A parameter tied to one of an earlier layer counts there.
int64_t CountParameters(const Module& module, std::set<const void*>& counted) {
  int64_t count = 0;
  for (const NamedVariable& parameter : module.Parameters())
    if (counted.insert(parameter.value.id()).second) count += parameter.value.numel();
  return count;
}

}  // namespace

std::vector<LayerSummary> Describe(const Sequential& model, const Shape& input) {
  std::vector<LayerSummary> layers;
  std::set<const void*> counted;
  Shape shape = input;
  for (const Sequential::Layer& layer : model.layers()) {
    const LayerCost cost = layer.module->Cost(shape);
    layers.push_back({static_cast<int>(layers.size()), layer.title,
                      CountParameters(*layer.module, counted), cost});
    shape = cost.output;
  }
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
