#include "parallel/trainer/block_costs.h"

#include <algorithm>
#include <map>
#include <span>
#include <string>

#include "autograd/backward.h"
#include "autograd/node.h"
#include "parallel/codec/gpu_codec.h"
#include "parallel/pipeline/skip_connections.h"
#include "parallel/pipeline/stage.h"
#include "parallel/pipeline/take_last.h"
#include "runtime/error.h"
#include "runtime/memory_account.h"
#include "runtime/rng.h"
#include "runtime/stream.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

bool IsReal(DType dtype) { return dtype == DType::kF32 || dtype == DType::kF64; }

Tensor Sample(const TensorSpec& spec, uint64_t number, Device device) {
  Tensor tensor = Zeros(spec.shape, spec.dtype);
  if (IsReal(spec.dtype))
    FillUniform(tensor, -1, 1, RandomStream({.layer = HashName("block_costs"), .sample = number}));
  return tensor.To(device);
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
  for (const Variable& output : outputs)
    ones.push_back(Full(output.shape(), 1, output.dtype(), output.data().device()));
  return ones;
}

// Times work on a device.
class Stopwatch {
 public:
  explicit Stopwatch(Device device) : done_(device) {}

  // Begins when all earlier work is done.
  void Begin() {
    Settle();
    begin_ = trace::Now();
  }
  // Seconds until what was given to the device since is done.
  double Seconds() {
    Settle();
    return static_cast<double>(trace::Now() - begin_) * 1e-9;
  }

 private:
  void Settle() {
    done_.Record(CurrentStream(done_.device()));
    done_.Wait();
  }

  Event done_;
  int64_t begin_ = 0;
};

// The costs of one pass through a block.
struct Pass {
  double forward = 0, backward = 0, step = 0;
  double kept = 0;  // bytes from the forward to the backward
};

class BlockMeter {
 public:
  // `end`: run after the block; may be empty.
  BlockMeter(const Block& block, int index, const OutputLoss& end, const BlockCostOptions& options)
      : stage_({block}, index), end_(end), device_(options.device) {
    stage_.MoveTo(device_);
    if (options.optimizer) optimizer_ = options.optimizer(stage_.Parameters());
  }

  // Sets `outputs`.
  Pass Once(const std::vector<Tensor>& inputs, const StepContext& context,
            std::vector<Tensor>& outputs) {
    outputs.clear();
    const std::vector<Variable> leaves = Leaves(inputs);
    Pass pass;
    // Its own, since other threads of the process may allocate meanwhile.
    const auto account = std::make_shared<MemoryAccount>();
    std::vector<Variable> results;
    Stopwatch watch(device_);
    watch.Begin();
    {
      const WithMemoryAccount with(account);
      results = stage_.Forward(leaves, context);
      for (const Variable& result : results) outputs.push_back(result.data());
      if (end_) results = {end_(results)};
    }
    pass.forward = watch.Seconds();
    pass.kept = static_cast<double>(account->stats(device_).live_bytes);
    const std::vector<Variable> differentiable = Differentiable(results);
    const std::vector<Tensor> ones = Ones(differentiable);
    watch.Begin();
    if (!differentiable.empty()) Backward(differentiable, ones);
    pass.backward = watch.Seconds();
    watch.Begin();
    if (optimizer_) optimizer_->Step(0);
    pass.step = optimizer_ ? watch.Seconds() : 0;
    for (NamedVariable parameter : stage_.Parameters()) parameter.value.ZeroGrad();
    stage_.EndMiniBatch(false);
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
  Device device_;
  std::unique_ptr<Optimizer> optimizer_;
};

// The costs of a block's outputs when they cross a cut.
struct Crossing {
  double bytes = 0, encode = 0, decode = 0;
};

// By the CPU, to which and from which the tensor is copied.
void EncodeOnCpu(const Tensor& output, Codec& codec, Stopwatch& watch, Crossing& crossing) {
  const auto count = static_cast<size_t>(output.numel());
  const CodecContext context{.shape = output.shape()};
  std::vector<std::byte> encoded(codec.MaxTensorBytes(output.shape()));
  Tensor restored = Empty(output.shape(), DType::kF32);
  watch.Begin();
  const Tensor values = output.To(DType::kF32).Contiguous().To(Device{});
  encoded.resize(EncodeWithin(codec, context, {values.data<float>(), count}, encoded));
  crossing.encode += watch.Seconds();
  watch.Begin();
  if (!encoded.empty())
    codec.DecodeTensor(context, encoded, {restored.mutable_data<float>(), count});
  restored.To(output.device());
  crossing.decode += watch.Seconds();
  crossing.bytes += static_cast<double>(encoded.size());
}

void EncodeOnGpu(const Tensor& output, const Codec& codec, Stopwatch& watch, Crossing& crossing) {
  const Tensor values = output.Contiguous();
  const auto bytes = [&](size_t count) {
    return Tensor({static_cast<int64_t>(count)}, DType::kU8, output.device());
  };
  Tensor encoded = bytes(codec.MaxTensorBytes(values.shape()));
  Tensor scratch = bytes(codec.on_gpu()->ScratchBytes(values.numel()));
  Tensor written({1}, DType::kI64, output.device());
  Tensor restored(values.shape(), values.dtype(), values.device());
  watch.Begin();
  codec.on_gpu()->Encode(values, encoded, written, scratch);
  crossing.encode += watch.Seconds();
  const auto size = static_cast<int64_t>(written.Item());
  watch.Begin();
  if (size > 0) codec.on_gpu()->Decode(encoded.Narrow(0, 0, size), restored);
  crossing.decode += watch.Seconds();
  crossing.bytes += static_cast<double>(size);
}

Crossing CrossOnce(std::span<const Tensor> outputs, Codec* codec, Device device) {
  Crossing crossing;
  Stopwatch watch(device);
  for (const Tensor& output : outputs) {
    if (!Encodes(codec, output.dtype()))
      crossing.bytes += static_cast<double>(output.bytes());
    else if (device.kind == DeviceKind::kCuda && codec->on_gpu() != nullptr)
      EncodeOnGpu(output, *codec, watch, crossing);
    else
      EncodeOnCpu(output, *codec, watch, crossing);
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
  for (const TensorSpec& spec : inputs)
    tensors.push_back(Sample(spec, tensors.size(), options.device));
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
    Crossing crossing = CrossOnce(along_cut(), options.codec, options.device);
    for (int repeat = 1; repeat < options.repeats; ++repeat) {
      const Pass pass = meter.Once(tensors, context, outputs);
      const Crossing again = CrossOnce(along_cut(), options.codec, options.device);
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
