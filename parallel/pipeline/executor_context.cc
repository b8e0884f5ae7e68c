// The context that an executor gives to the layers of a forward, and their communication with other
// ranks.
#include <fmt/format.h>

#include "parallel/pipeline/executor.h"
#include "runtime/trace.h"

namespace torus::parallel {

StepContext Executor::ContextOf(const Action& forward) {
  const int m = forward.micro_batch;
  StepContext context;
  context.seed = batch_->seed;
  context.step = batch_->step;
  context.micro_batch = m;
  context.training = training_;
  context.samples = batch_->micro_batches[m].samples;
  if (training_) context.gather_replicas = GatherFor(forward.stage, m);
  context.tensor_ranks = TensorRanksFor(forward.stage, m);
  return context;
}

// Called in the forward and in its backward.
GatherReplicas Executor::GatherFor(int stage, int micro_batch) {
  if (!options_.gather_replicas) return {};
  return [=, this](const Tensor& own) {
    const trace::Scope scope("gather", "statistics", batch_->step, micro_batch);
    const ActionClock::Mark begin = clock_.Begin();
    std::vector<Tensor> all = options_.gather_replicas(
        own, fmt::format("batch norm over the replicas of stage {}, micro-batch {}, step {}", stage,
                         micro_batch, batch_->step));
    clock_.EndGather(begin);
    return all;
  };
}

// Called in forwards and in their backwards.
TensorRanks Executor::TensorRanksFor(int stage, int micro_batch) {
  const ExecutorOptions::TensorGroup& group = options_.tensor_group;
  if (group.size == 1) return {};
  const auto measured = [=, this](const auto& exchange) {
    return [=, this](const Tensor& own) {
      const trace::Scope scope("tensor-parallel sum", "collective", batch_->step, micro_batch);
      const ActionClock::Mark begin = clock_.Begin();
      auto result =
          exchange(own, fmt::format("tensor-parallel sum in stage {}, micro-batch {}, step {}",
                                    stage, micro_batch, batch_->step));
      clock_.EndGather(begin);
      return result;
    };
  };
  return {{group.rank, group.size}, measured(group.sum), measured(group.gather)};
}

}  // namespace torus::parallel
