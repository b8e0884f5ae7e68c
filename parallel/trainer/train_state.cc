#include "parallel/trainer/train_state.h"

namespace torus::parallel {
namespace {

TensorSource SourceOf(const std::vector<NamedTensor>& tensors) {
  TensorSource source;
  std::map<std::string, Tensor> values;
  for (const NamedTensor& tensor : tensors) {
    source.specs[tensor.name] = {tensor.value.shape(), tensor.value.dtype()};
    values[tensor.name] = tensor.value;
  }
  source.read = [values = std::move(values)](const std::string& name) { return values.at(name); };
  return source;
}

}  // namespace

StateSource SourceOf(const TrainState& state) {
  return {.step = state.step,
          .weights = SourceOf(state.weights),
          .optimizer = SourceOf(state.optimizer),
          .averages = SourceOf(state.averages),
          .codecs = SourceOf(state.codecs),
          .replicas = SourceOf(state.replicas),
          .loss_scale = state.loss_scale};
}

}  // namespace torus::parallel
