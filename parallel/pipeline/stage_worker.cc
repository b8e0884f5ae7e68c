#include "parallel/pipeline/stage_worker.h"

#include <optional>
#include <utility>

#include "autograd/node.h"
#include "runtime/error.h"

namespace torus::parallel {

StageWorker::StageWorker(Stage& stage, bool first, const LossFn* loss, int slots)
    : stage_(stage), first_(first), loss_fn_(loss), in_flight_(slots) {}

std::vector<Variable> StageWorker::Leaves(std::vector<Tensor> inputs, bool training) const {
  std::vector<Variable> leaves;
  for (Tensor& input : inputs) {
    const bool wants_grad = training && !first_ && input.defined() && IsFloating(input.dtype());
    leaves.push_back(input.defined() ? Variable(std::move(input), wants_grad) : Variable());
  }
  return leaves;
}

Variable StageWorker::AddLoss(const std::vector<Variable>& outputs, const Target& target) {
  Variable loss = (*loss_fn_)(outputs, target.tensors);
  Require(loss.defined() && loss.numel() == 1, "loss", "must have one element, got {}", loss);
  loss_ += target.weight * loss.data().Item();
  return loss;
}

std::vector<Tensor> StageWorker::Forward(size_t slot, std::vector<Tensor> inputs,
                                         const Target& target, const StepContext& context) {
  std::optional<NoGrad> no_grad;
  if (!context.training) no_grad.emplace();
  InFlight flight;
  flight.inputs = Leaves(std::move(inputs), context.training);
  flight.outputs = stage_.Forward(flight.inputs, context);
  flight.weight = target.weight;
  std::vector<Tensor> results;
  if (loss_fn_ != nullptr) {
    flight.outputs = {AddLoss(flight.outputs, target)};
  } else {
    for (const Variable& output : flight.outputs) results.push_back(output.data());
  }
  if (context.training) in_flight_[slot] = std::move(flight);
  return results;
}

std::vector<Tensor> StageWorker::RunBackward(size_t slot, const std::vector<Tensor>& output_grads,
                                             bool defer) {
  InFlight flight = std::exchange(in_flight_[slot], {});
  std::vector<Variable> outputs;
  std::vector<Tensor> seeds;
  for (size_t i = 0; i < flight.outputs.size(); ++i) {
    const Variable& output = flight.outputs[i];
    if (!output.defined() || !output.requires_grad()) continue;
    const Tensor seed = loss_fn_ != nullptr ? Full(output.shape(), flight.weight, output.dtype())
                                            : output_grads.at(i);
    if (!seed.defined()) continue;
    outputs.push_back(output);
    seeds.push_back(seed);
  }
  BackwardOptions options;
  options.defer_leaves = defer;
  std::vector<size_t> wanted;
  for (size_t i = 0; i < flight.inputs.size(); ++i) {
    if (!flight.inputs[i].defined() || !flight.inputs[i].requires_grad()) continue;
    wanted.push_back(i);
    options.wanted.push_back(flight.inputs[i]);
  }
  std::vector<Tensor> input_grads(flight.inputs.size());
  if (outputs.empty()) return input_grads;
  BackwardResult result = torus::Backward(outputs, seeds, options);
  for (size_t i = 0; i < wanted.size(); ++i) input_grads[wanted[i]] = result.wanted[i];
  in_flight_[slot].deferred = std::move(result.deferred);
  return input_grads;
}

std::vector<Tensor> StageWorker::Backward(size_t slot, const std::vector<Tensor>& output_grads) {
  return RunBackward(slot, output_grads, false);
}

std::vector<Tensor> StageWorker::BackwardInput(size_t slot,
                                               const std::vector<Tensor>& output_grads) {
  return RunBackward(slot, output_grads, true);
}

void StageWorker::BackwardWeight(size_t slot) {
  InFlight flight = std::exchange(in_flight_[slot], {});
  if (!flight.deferred.empty()) flight.deferred.Run();
}

}  // namespace torus::parallel
