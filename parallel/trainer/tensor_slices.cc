#include "parallel/trainer/tensor_slices.h"

#include <map>
#include <vector>

#include "parallel/optim/optimizer_state.h"
#include "runtime/error.h"
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

// The split parameter to which a tensor of a state belongs, by its own name or that of its
// optimizer state; null if there is none.
const WeightSpec* WeightOf(const std::string& name, const SplitWeights& split) {
  auto found = split.find(name);
  if (found == split.end()) found = split.find(ParameterOf(name));
  return found == split.end() ? nullptr : &found->second;
}

// Returns the whole tensor on rank 0, to which the others send their slices.
Tensor Joined(Communicator& tensor, const Tensor& own, const WeightSpec& weight,
              const std::string& what) {
  const Tensor mine = own.Contiguous();
  std::vector<Tensor> slices(tensor.size());
  std::vector<Buffer> rows(tensor.size());
  rows[tensor.rank()] = BufferToRead(mine);
  for (int r = 1; tensor.rank() == 0 && r < tensor.size(); ++r) {
    slices[r] = Empty(SliceShape(weight.whole, *weight.split, {r, tensor.size()}), own.dtype());
    rows[r] = BufferOf(slices[r]);
  }
  tensor.Gather(0, rows, what);
  if (tensor.rank() != 0) return own;
  slices[0] = mine.To(Device{});
  return torus::JoinSlices(slices, weight.whole, *weight.split);
}

// Refuses the state of a model that is narrower by the number of ranks: it would fit a slice.
void RequireWhole(const std::string& name, const Shape& got, const WeightSpec& weight) {
  Require(got == weight.whole || got != weight.spec.shape, "state",
          "{} must be that of the whole {}, {}, got {}, as large as a rank's slice of it", name,
          weight.name, weight.whole, got);
}

}  // namespace

TensorSource SlicesOf(const TensorSource& whole, const RankModel& model) {
  SplitWeights split = SplitOnes(model);
  if (split.empty()) return whole;
  TensorSource slices{.specs = whole.specs};
  for (auto& [name, spec] : slices.specs) {
    const WeightSpec* weight = WeightOf(name, split);
    if (weight == nullptr) continue;
    RequireWhole(name, spec.shape, *weight);
    if (spec.shape == weight->whole) spec.shape = weight->spec.shape;
  }
  slices.read = [read = whole.read, split = std::move(split),
                 place = model.tensor](const std::string& name) {
    const Tensor tensor = read(name);
    const WeightSpec* weight = WeightOf(name, split);
    if (weight == nullptr || tensor.shape() != weight->whole) return tensor;
    return SliceOf(tensor, *weight->split, place);
  };
  return slices;
}

void JoinSlices(Communicator& tensor, const RankModel& model, StageTensors& stage,
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
