#include "parallel/pipeline/step_graph.h"

#include <bit>
#include <utility>

#include "autograd/low_copy.h"
#include "parallel/pipeline/add_context.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/trace.h"

namespace torus::parallel {
namespace {

void AddAddress(const Tensor& tensor, StepKey& key) {
  key.push_back(std::bit_cast<uint64_t>(tensor.raw()));
}

void AddShapes(const std::vector<Tensor>& tensors, StepKey& key) {
  key.push_back(tensors.size());
  for (const Tensor& tensor : tensors) {
    key.push_back(tensor.defined());
    if (!tensor.defined()) continue;
    key.push_back(static_cast<uint64_t>(tensor.dtype()));
    key.push_back(static_cast<uint64_t>(tensor.rank()));
    for (const int64_t size : tensor.shape()) key.push_back(static_cast<uint64_t>(size));
  }
}

// Contiguous tensors like `tensors`, in memory that is kept.
std::vector<Tensor> RoomFor(const std::vector<Tensor>& tensors) {
  std::vector<Tensor> room;
  for (const Tensor& tensor : tensors)
    room.push_back(tensor.defined() ? Tensor(tensor.shape(), tensor.dtype(), tensor.device())
                                    : Tensor());
  return room;
}

MiniBatch RoomFor(const MiniBatch& batch) {
  MiniBatch room = batch;
  for (MicroBatch& part : room.micro_batches) {
    part.inputs = RoomFor(part.inputs);
    part.targets = RoomFor(part.targets);
  }
  return room;
}

void CopyAll(const std::vector<Tensor>& from, std::vector<Tensor>& to) {
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i].defined()) Copy(from[i], to[i]);
}

void CopyBatch(const MiniBatch& from, MiniBatch& to) {
  for (size_t m = 0; m < from.micro_batches.size(); ++m) {
    CopyAll(from.micro_batches[m].inputs, to.micro_batches[m].inputs);
    CopyAll(from.micro_batches[m].targets, to.micro_batches[m].targets);
  }
}

// The weight's copy in 16 bits if it is current; one that is not is dropped.
Tensor CurrentCopy(const Variable& weight) {
  const Tensor kept = KeptLowCopy(weight);
  if (kept.defined() && LowCopyIsCurrent(weight)) return kept;
  ForgetLowCopy(weight);
  return {};
}

// The statistics of each layer that keeps any, in the stage's order.
std::vector<KeptStatistics> StatisticsOf(const Stage& stage) {
  std::vector<KeptStatistics> all;
  stage.ShareStatistics([&](KeptStatistics own) {
    all.push_back(own);
    return own;
  });
  return all;
}

void SetStatistics(const std::vector<KeptStatistics>& all, const Stage& stage) {
  size_t next = 0;
  stage.ShareStatistics([&](const KeptStatistics&) { return all.at(next++); });
}

}  // namespace

StepGraph::StepGraph(Device gpu, std::vector<StageRunner*> stages, DeferredChecks& checks,
                     bool required)
    : gpu_(gpu), stages_(std::move(stages)), checks_(checks), required_(required) {}

StepKey StepGraph::KeyOf(const MiniBatch& batch) const {
  StepKey key{batch.seed, static_cast<uint64_t>(batch.global_samples),
              std::bit_cast<uint64_t>(batch.loss_scale), batch.micro_batches.size()};
  for (const MicroBatch& part : batch.micro_batches) {
    AddShapes(part.inputs, key);
    AddShapes(part.targets, key);
    key.push_back(part.samples.size());
    for (const int64_t sample : part.samples) key.push_back(static_cast<uint64_t>(sample));
  }
  for (StageRunner* runner : stages_) {
    for (const NamedVariable& p : runner->stage().Parameters()) AddAddress(p.value.data(), key);
    for (const NamedTensor& buffer : runner->stage().Buffers()) AddAddress(buffer.value, key);
  }
  return key;
}

void StepGraph::Run(const MiniBatch& batch, const Compute& compute) {
  if (!why_not_.empty()) return compute(batch);
  const StepKey before = std::exchange(before_, KeyOf(batch));
  const bool recorded = recorded_ && recorded_->key == before_ && ReadsTheirCopies();
  if (recorded || (before == before_ && TryRecord(batch, compute))) return Launch(batch);
  was_launched_ = false;
  if (ComputeAsEver(batch, compute)) return;
  // The recorded step keeps the memory of all its activations, which this one may need.
  recorded_.reset();
  Forget();
  ComputeAsEver(batch, compute);
}

// Returns false if it failed and there is a recorded step that can be dropped. No other rank knows
// of the step yet, so it can be repeated.
bool StepGraph::ComputeAsEver(const MiniBatch& batch, const Compute& compute) try {
  const NumberLog log;
  compute(batch);
  numbers_ = log.numbers();
  return true;
} catch (const BrokenEnvironment&) {
  if (!recorded_) throw;
  return false;
}

bool StepGraph::Held() {
  if (!was_launched_ || recorded_->graph.Held()) return true;
  --launched_;
  was_launched_ = false;
  why_not_ = "a number that the model reads from the GPU's memory differs from step to step";
  Require(!required_, "pipeline", "CUDA graphs: {}", why_not_);
  Forget();
  recorded_.reset();
  return false;
}

bool StepGraph::TryRecord(const MiniBatch& batch, const Compute& compute) try {
  recorded_.reset();  // first: its memory may be needed
  auto made = std::make_unique<Recorded>(gpu_);
  Record(batch, compute, *made);
  recorded_ = std::move(made);
  return true;
} catch (const std::exception& error) {
  if (required_) RethrowWithContext("recording a step as a CUDA graph");
  why_not_ = error.what();
  Forget();
  return false;
}

// The 16-bit copies of weights that are current are not part of the graph: it reads them where they
// are, and whoever changes a weight renews them (Launch, and optimizers). All others are dropped,
// so that the graph makes new ones instead of reading the old.
void StepGraph::Record(const MiniBatch& batch, const Compute& compute, Recorded& to) {
  const trace::Scope scope("record", "graph", batch.step);
  to.key = before_;
  to.batch = RoomFor(batch);
  for (StageRunner* runner : stages_) {
    OfStage& of = to.stages.emplace_back();
    for (const NamedVariable& parameter : runner->stage().Parameters())
      of.low_copies.push_back(CurrentCopy(parameter.value));
  }
  to.graph.Assume(numbers_);
  to.graph.Record([&] { compute(to.batch); });
  for (size_t s = 0; s < stages_.size(); ++s) {
    StageRunner* const runner = stages_[s];
    OfStage& of = to.stages[s];
    of.losses = runner->losses();
    of.statistics = StatisticsOf(runner->stage());
    for (const NamedVariable& parameter : runner->stage().Parameters())
      of.gradients.push_back(parameter.value.grad());
  }
  to.checks = checks_.expected();
}

// Whether the copies in 16 bits that the recorded step reads are still those of the weights.
bool StepGraph::ReadsTheirCopies() const {
  for (size_t s = 0; s < stages_.size(); ++s) {
    const std::vector<NamedVariable> parameters = stages_[s]->stage().Parameters();
    for (size_t i = 0; i < parameters.size(); ++i) {
      const Tensor& read = recorded_->stages[s].low_copies[i];
      if (!read.defined()) continue;
      const Tensor kept = KeptLowCopy(parameters[i].value);
      if (!kept.defined() || kept.raw() != read.raw()) return false;
    }
  }
  return true;
}

// Drops what an aborted recording or step has left behind.
void StepGraph::Forget() {
  checks_.Clear();
  for (StageRunner* runner : stages_) {
    runner->Begin();
    SetStatistics(std::vector<KeptStatistics>(StatisticsOf(runner->stage()).size()),
                  runner->stage());
    for (const NamedVariable& parameter : runner->stage().Parameters()) {
      ForgetLowCopy(parameter.value);
      Variable(parameter.value).ZeroGrad();
    }
  }
}

void StepGraph::Launch(const MiniBatch& batch) try {
  const trace::Scope scope("launch", "graph", batch.step);
  CopyBatch(batch, recorded_->batch);
  for (StageRunner* runner : stages_)
    for (const NamedVariable& p : runner->stage().Parameters())
      if (const Tensor low = KeptLowCopy(p.value); low.defined()) LowCopyOf(p.value, low.dtype());
  recorded_->graph.Launch(batch.step);
  for (size_t s = 0; s < stages_.size(); ++s) {
    const OfStage& of = recorded_->stages[s];
    stages_[s]->SetLosses(of.losses);
    SetStatistics(of.statistics, stages_[s]->stage());
    const std::vector<NamedVariable> parameters = stages_[s]->stage().Parameters();
    for (size_t i = 0; i < parameters.size(); ++i)
      Variable(parameters[i].value).SetGrad(of.gradients[i]);
  }
  checks_.SetExpected(recorded_->checks);
  ++launched_;
  was_launched_ = true;
} catch (...) {
  RethrowWithContext(fmt::format("step {}, CUDA graph", batch.step));
}

}  // namespace torus::parallel
