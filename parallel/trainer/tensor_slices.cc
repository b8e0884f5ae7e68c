#include "parallel/trainer/tensor_slices.h"

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "parallel/collectives/rows.h"
#include "runtime/tensor_split.h"

namespace torus::parallel {
namespace {

using SplitWeights = std::map<std::string, WeightSpec>;

SplitWeights SplitOnes(const RankModel& model) {
  SplitWeights split;
  for (const WeightSpec& weight : model.weights)
    if (weight.split) split.emplace(weight.name, weight);
  return split;
}

// The parameter to which a tensor of a state belongs, by its own name or an optimizer's for it;
// null unless it is split.
const WeightSpec* WeightOf(const std::string& name, const SplitWeights& split) {
  auto found = split.find(name);
  if (found == split.end()) found = split.find(ParameterOf(name));
  return found == split.end() ? nullptr : &found->second;
}

Tensor Joined(Transport& tensor, const Tensor& own, const WeightSpec& weight,
              const std::string& what) {
  std::vector<Tensor> slices;
  std::vector<std::span<std::byte>> rows;
  for (int r = 0; r < tensor.size(); ++r) {
    const Shape shape = SliceShape(weight.whole, *weight.split, {r, tensor.size()});
    Tensor& slice =
        slices.emplace_back(r == tensor.rank() ? own.Clone() : Empty(shape, own.dtype()));
    rows.emplace_back(static_cast<std::byte*>(slice.mutable_raw()), slice.bytes());
  }
  GatherRows(tensor, rows, what);
  return torus::JoinSlices(slices, weight.whole, *weight.split);
}

}  // namespace

TensorSource SlicesOf(const TensorSource& whole, const RankModel& model) {
  SplitWeights split = SplitOnes(model);
  if (split.empty()) return whole;
  TensorSource slices{.specs = whole.specs};
  for (auto& [name, spec] : slices.specs)
    if (const WeightSpec* weight = WeightOf(name, split); weight && spec.shape == weight->whole)
      spec.shape = weight->spec.shape;
  slices.read = [read = whole.read, split = std::move(split),
                 place = model.tensor](const std::string& name) {
    const Tensor tensor = read(name);
    const WeightSpec* weight = WeightOf(name, split);
    if (weight == nullptr || tensor.shape() != weight->whole) return tensor;
    return SliceOf(tensor, *weight->split, place);
  };
  return slices;
}

void JoinSlices(Transport& tensor, const RankModel& model, StageTensors& stage,
                const std::string& what) {
  const SplitWeights split = SplitOnes(model);
  for (auto* list : {&stage.parameters, &stage.optimizer, &stage.averages})
    for (NamedTensor& one : *list) {
      const WeightSpec* weight = WeightOf(one.name, split);
      if (weight == nullptr || one.value.shape() != weight->spec.shape) continue;
      one.value = Joined(tensor, one.value, *weight, what + ", " + one.name);
    }
}

}  // namespace torus::parallel
