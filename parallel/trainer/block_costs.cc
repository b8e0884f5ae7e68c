#include "parallel/trainer/block_costs.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "parallel/pipeline/skip_connections.h"
#include "parallel/pipeline/stage.h"
#include "parallel/pipeline/take_last.h"
#include "runtime/allocator.h"
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

double SecondsSince(int64_t begin) { return static_cast<double>(trace::Now() - begin) * 1e-9; }

// The costs of one pass through a block.
struct Pass {
  double forward = 0, backward = 0, step = 0;
  double kept = 0;  // bytes from the forward to the backward
};

class BlockMeter {
 public:
  // `end`: run after the block; may be empty.
  BlockMeter(const Block& block, int index, const OutputLoss& end, const BlockCostOptions& options)
      : stage_({block}, index), end_(end) {
    if (options.optimizer) optimizer_ = options.optimizer(stage_.Parameters());
  }

  // Sets `outputs`.
  Pass Once(const std::vector<Tensor>& inputs, const StepContext& context,
            std::vector<Tensor>& outputs) {
    outputs.clear();
    const std::vector<Variable> leaves = Leaves(inputs);
    const size_t before = AllocatorFor({}).stats().live_bytes;
    Pass pass;
    int64_t begin = trace::Now();
    std::vector<Variable> results = stage_.Forward(leaves, context);
    for (const Variable& result : results) outputs.push_back(result.data());
    if (end_) results = {end_(results)};
    pass.forward = SecondsSince(begin);
    pass.kept = static_cast<double>(AllocatorFor({}).stats().live_bytes - before);
    const std::vector<Variable> differentiable = Differentiable(results);
    const std::vector<Tensor> ones = Ones(differentiable);
    begin = trace::Now();
    if (!differentiable.empty()) Backward(differentiable, ones);
    pass.backward = SecondsSince(begin);
    begin = trace::Now();
    if (optimizer_) optimizer_->Step(0);
    pass.step = optimizer_ ? SecondsSince(begin) : 0;
    for (NamedVariable parameter : stage_.Parameters()) parameter.value.ZeroGrad();
    return pass;
  }

  // Bytes of weights, gradients, running statistics and optimizer state.
  double StateBytes() const {
    size_t bytes = 0;
    for (const NamedVariable& parameter : stage_.Parameters())
      bytes += 2 * parameter.value.data().bytes();
    for (const NamedTensor& buffer : stage_.Buffers()) bytes += buffer.value.bytes();
    if (optimizer_) bytes += optimizer_->StateBytes();
    return static_cast<double>(bytes);
  }

 private:
  const Stage stage_;
  const OutputLoss& end_;
  std::unique_ptr<Optimizer> optimizer_;
};

// The costs of a block's outputs when they cross a cut.
struct Crossing {
  double bytes = 0, encode = 0, decode = 0;
};

Crossing CrossOnce(std::span<const Tensor> outputs, Codec* codec) {
  Crossing crossing;
  for (const Tensor& output : outputs) {
    if (!Encodes(codec, output.dtype())) {
      crossing.bytes += static_cast<double>(output.bytes());
      continue;
    }
    const Tensor values = output.To(DType::kF32).Contiguous();
    Tensor restored = Empty(values.shape(), DType::kF32);
    const auto count = static_cast<size_t>(values.numel());
    const std::span<const float> in(values.data<float>(), count);
    const CodecContext context{.shape = values.shape()};
    std::vector<std::byte> encoded(codec->MaxTensorBytes(values.shape()));
    int64_t begin = trace::Now();
    encoded.resize(EncodeWithin(*codec, context, in, encoded));
    crossing.encode += SecondsSince(begin);
    begin = trace::Now();
    if (!encoded.empty())
      codec->DecodeTensor(context, encoded, {restored.mutable_data<float>(), count});
    crossing.decode += SecondsSince(begin);
    crossing.bytes += static_cast<double>(encoded.size());
  }
  return crossing;
}

void TakeLeast(double& least, double time) { least = std::min(least, time); }

}  // namespace

CostModel MeasureBlockCosts(const std::vector<Block>& blocks, const std::vector<TensorSpec>& inputs,
                            const BlockCostOptions& options) {
  FindSkipConnections(blocks, {});  // refuses names that do not fit
  Require(options.repeats >= 1, "block costs", "repeats must be at least 1, got {}",
          options.repeats);
  std::vector<Tensor> tensors, outputs;
  std::map<std::string, Tensor> aside;  // tensors that skip blocks
  for (const TensorSpec& spec : inputs) tensors.push_back(Sample(spec, tensors.size()));
  StepContext context;
  const int64_t rows = inputs.empty() ? 0 : inputs[0].shape[0];
  for (int64_t row = 0; row < rows; ++row) context.samples.push_back(row);
  const OutputLoss none;
  CostModel costs;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const bool last = i + 1 == blocks.size();
    BlockMeter meter(blocks[i], static_cast<int>(i), last ? options.loss : none, options);
    const auto along_cut = [&] {
      return std::span<const Tensor>(outputs).first(outputs.size() - blocks[i].stashes.size());
    };
    for (const std::string& name : blocks[i].takes) tensors.push_back(aside.at(name));
    meter.Once(tensors, context, outputs);  // warms up
    Pass least = meter.Once(tensors, context, outputs);
    Crossing crossing = CrossOnce(along_cut(), options.codec);
    for (int repeat = 1; repeat < options.repeats; ++repeat) {
      const Pass pass = meter.Once(tensors, context, outputs);
      const Crossing again = CrossOnce(along_cut(), options.codec);
      TakeLeast(least.forward, pass.forward);
      TakeLeast(least.backward, pass.backward);
      TakeLeast(least.step, pass.step);
      TakeLeast(crossing.encode, again.encode);
      TakeLeast(crossing.decode, again.decode);
    }
    costs.forward.push_back(least.forward);
    costs.backward.push_back(least.backward);
    costs.step.push_back(least.step);
    costs.boundary_bytes.push_back(crossing.bytes);
    costs.encode.push_back(crossing.encode);
    costs.decode.push_back(crossing.decode);
    costs.state_bytes.push_back(meter.StateBytes());
    costs.activation_bytes.push_back(least.kept);
    const std::vector<Tensor> stashed = TakeLast(outputs, blocks[i].stashes.size());
    for (size_t k = 0; k < stashed.size(); ++k) aside[blocks[i].stashes[k]] = stashed[k];
    tensors = outputs;
  }
  return costs;
}

}  // namespace torus::parallel
