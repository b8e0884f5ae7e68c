#include "parallel/trainer/block_costs.h"

#include <algorithm>
#include <limits>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "runtime/error.h"
#include "runtime/rng.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

bool IsReal(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF64; }

Tensor Sample(const TensorSpec& spec, uint64_t number) {
  Tensor tensor = Zeros(spec.shape, spec.dtype);
  if (IsReal(spec.dtype))
    FillUniform(tensor, -1, 1, RandomStream({.layer = HashName("block_costs"), .sample = number}));
  return tensor;
}

// New leaves, so that a block's backward stops at its own inputs.
std::vector<Variable> Leaves(const std::vector<Tensor>& tensors) {
  std::vector<Variable> leaves;
  for (const Tensor& tensor : tensors) leaves.emplace_back(tensor, IsReal(tensor.dtype()));
  return leaves;
}

// Masks and the like have no gradient.
std::vector<Variable> Differentiable(const std::vector<Variable>& outputs) {
  std::vector<Variable> some;
  for (const Variable& output : outputs)
    if (output.requires_grad()) some.push_back(output);
  return some;
}

std::vector<Tensor> Ones(const std::vector<Variable>& outputs) {
  std::vector<Tensor> ones;
  for (const Variable& output : outputs) ones.push_back(Full(output.shape(), 1, output.dtype()));
  return ones;
}

// One forward and backward; sets `outputs` and returns the seconds. `loss` may be empty.
double RunOnce(const Block& block, const std::vector<Tensor>& inputs, const StepContext& context,
               const OutputLoss& loss, std::vector<Tensor>& outputs) {
  const std::vector<Variable> leaves = Leaves(inputs);
  const int64_t begin = trace::Now();
  std::vector<Variable> results = block.forward(leaves, context);
  if (loss) results = {loss(results)};
  const int64_t middle = trace::Now();
  const std::vector<Variable> differentiable = Differentiable(results);
  const std::vector<Tensor> ones = Ones(differentiable);
  const int64_t resumed = trace::Now();
  if (!differentiable.empty()) Backward(differentiable, ones);
  const int64_t end = trace::Now();
  outputs.clear();
  for (const Variable& result : results) outputs.push_back(result.data());
  for (NamedVariable parameter : block.parameters) parameter.value.ZeroGrad();
  return static_cast<double>(middle - begin + end - resumed) * 1e-9;
}

}  // namespace

std::vector<double> MeasureBlockCosts(const std::vector<Block>& blocks,
                                      const std::vector<TensorSpec>& inputs, const OutputLoss& loss,
                                      int repeats) {
  Require(repeats >= 1, "block costs", "repeats must be at least 1, got {}", repeats);
  std::vector<Tensor> tensors, outputs;
  for (const TensorSpec& spec : inputs) tensors.push_back(Sample(spec, tensors.size()));
  StepContext context;
  const int64_t rows = inputs.empty() ? 0 : inputs[0].shape[0];
  for (int64_t row = 0; row < rows; ++row) context.samples.push_back(row);
  std::vector<double> costs;
  for (const Block& block : blocks) {
    const OutputLoss& end = &block == &blocks.back() ? loss : nullptr;
    RunOnce(block, tensors, context, end, outputs);
    double least = std::numeric_limits<double>::infinity();
    for (int i = 0; i < repeats; ++i)
      least = std::min(least, RunOnce(block, tensors, context, end, outputs));
    costs.push_back(least);
    tensors = outputs;
  }
  return costs;
}

}  // namespace torus::parallel
