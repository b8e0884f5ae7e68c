#include "parallel/pipeline/executor.h"

#include <optional>
#include <utility>

#include "parallel/pipeline/add_context.h"
#include "parallel/pipeline/local_stage.h"
#include "parallel/pipeline/shape_agreement.h"
#include "parallel/pipeline/step_runner.h"
#include "runtime/error.h"

namespace torus::parallel {

struct Executor::State {
  State(Transport& transport, Schedule schedule, std::map<int, Stage*> stages,
        ExecutorOptions options)
      : transport(transport),
        schedule(std::move(schedule)),
        options(std::move(options)),
        owners(StageOwners(this->schedule)),
        runner(transport, this->schedule, this->options, local) {
    CheckStages(stages);
    const int slots = this->schedule.num_micro_batches;
    for (const auto& [index, stage] : stages) {
      const LossFn* loss = IsLast(index) ? &this->options.loss : nullptr;
      local.try_emplace(index, StageWorker(*stage, index == 0, loss, slots), index, slots);
    }
  }

  bool IsLast(int stage) const { return stage == schedule.num_stages - 1; }
  // The rank of `stage`; -1 when that is this rank, and when there is no such stage.
  int Remote(int stage) const {
    if (stage < 0 || stage >= schedule.num_stages) return -1;
    return owners[stage] == transport.rank() ? -1 : owners[stage];
  }

  void CheckStages(const std::map<int, Stage*>& stages) const;
  void AgreeOnShapes(const std::vector<TensorSpec>& inputs);
  void CheckSmallest(const std::vector<TensorSpec>& inputs);
  StepResult Run(const MiniBatch& batch, bool training);

  Transport& transport;
  const Schedule schedule;
  const ExecutorOptions options;
  const std::vector<int> owners;
  std::map<int, LocalStage> local;
  StepRunner runner;
  bool agreed = false;
};

void Executor::State::CheckStages(const std::map<int, Stage*>& stages) const {
  Require(transport.size() == schedule.num_ranks, "pipeline",
          "schedule {} is for {} ranks, the transport has {}", schedule.name, schedule.num_ranks,
          transport.size());
  for (int s = 0; s < schedule.num_stages; ++s) {
    const auto it = stages.find(s);
    const bool here = it != stages.end() && it->second != nullptr;
    Require(here == (owners[s] == transport.rank()), "pipeline",
            "stage {} belongs to rank {}; rank {} was {} it", s, owners[s], transport.rank(),
            here ? "given" : "not given");
    Require(!here || !IsLast(s) || options.loss != nullptr, "pipeline",
            "rank {} runs the last stage and needs a loss", transport.rank());
  }
  Require(stages.empty() || stages.rbegin()->first < schedule.num_stages, "pipeline",
          "there is no stage {} of {}", stages.empty() ? 0 : stages.rbegin()->first,
          schedule.num_stages);
}

void Executor::State::AgreeOnShapes(const std::vector<TensorSpec>& inputs) {
  std::vector<TensorSpec> made = inputs;  // the outputs of the last of this rank's stages so far
  for (auto& [s, stage] : local) {
    const int before = Remote(s - 1), after = Remote(s + 1);
    try {
      const std::vector<TensorSpec> in = before >= 0 ? RecvSpecs(transport, before, s) : made;
      if (!IsLast(s)) made = OutputSpecs(stage.worker.stage(), in);
      if (after >= 0) SendSpecs(transport, after, s + 1, made);
      stage.Connect(
          {&transport, before, after, options.activation_codec.get(), options.gradient_codec.get()},
          in, made);
    } catch (...) {
      RethrowWithContext(
          fmt::format("rank {}, stage {}, before step 0", transport.world_rank(), s));
    }
  }
  agreed = true;
}

void Executor::State::CheckSmallest(const std::vector<TensorSpec>& inputs) {
  std::vector<TensorSpec> made = inputs;
  for (auto& [s, stage] : local) try {
      if (Remote(s - 1) >= 0) made = RecvSpecs(transport, Remote(s - 1), s);
      made = OutputSpecs(stage.worker.stage(), made, true);
      if (Remote(s + 1) >= 0) SendSpecs(transport, Remote(s + 1), s + 1, made);
    } catch (...) {
      RethrowWithContext(fmt::format("rank {}, stage {}, before step 0, smallest micro-batch",
                                     transport.world_rank(), s));
    }
}

StepResult Executor::State::Run(const MiniBatch& batch, bool training) {
  const auto count = static_cast<int>(batch.micro_batches.size());
  Require(agreed, "pipeline", "AgreeOnShapes comes before the first step");
  Require(count > 0 && count % schedule.num_micro_batches == 0, "pipeline",
          "schedule {} has {} micro-batches and takes a multiple of them, step {} brings {}",
          schedule.name, schedule.num_micro_batches, batch.step, count);
  Require(batch.global_samples > 0, "pipeline", "step {} has no samples", batch.step);
  return runner.Run(batch, training);
}

Executor::Executor(Transport& transport, Schedule schedule, std::map<int, Stage*> stages,
                   ExecutorOptions options)
    : state_(std::make_unique<State>(transport, std::move(schedule), std::move(stages),
                                     std::move(options))) {}

Executor::~Executor() = default;

void Executor::AgreeOnShapes(const std::vector<TensorSpec>& inputs) {
  state_->AgreeOnShapes(inputs);
}

void Executor::CheckSmallest(const std::vector<TensorSpec>& inputs) {
  state_->CheckSmallest(inputs);
}

StepResult Executor::Train(const MiniBatch& batch) { return state_->Run(batch, true); }

StepResult Executor::Evaluate(const MiniBatch& batch) { return state_->Run(batch, false); }

bool Executor::finite() const { return state_->runner.finite(); }

double Executor::loss() const { return state_->runner.loss(); }

const RankTotals& Executor::totals() const { return state_->runner.totals(); }

std::vector<CutTraffic> Executor::traffic() const {
  std::vector<CutTraffic> all;
  for (const auto& [s, stage] : state_->local) {
    const auto add = [&](const std::optional<TensorLink>& link, int cut, bool forward) {
      if (link) all.push_back({cut, forward, link->peer(), link->raw_bytes(), link->sent_bytes()});
    };
    add(stage.activation_out, s + 1, true);
    add(stage.gradient_out, s, false);
  }
  return all;
}

}  // namespace torus::parallel
