#include "parallel/trainer/trainer.h"

#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include "parallel/trainer/rank_trainer.h"
#include "parallel/trainer/state_copy.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/long_work.h"

namespace torus::parallel {
namespace {

std::unique_ptr<World> Threads(const TrainerOptions& options) {
  Require(options.grace > 0 && options.grace <= kLongestTimeout, "trainer",
          "grace must be above 0 and at most {} seconds, got {}", kLongestTimeout, options.grace);
  return std::make_unique<ThreadWorld>(LayoutOf(options).size(),
                                       InProcessOptions{.timeout = options.timeout},
                                       RunRanksOptions{.grace = options.grace});
}

}  // namespace

struct Trainer::Impl {
  Impl(World& given, const TrainerOptions& options, const TrainingParts& parts) : world(given) {
    MakeRanks(options, parts);
    world.Run([&](Transport& transport) { ranks.at(transport.rank())->Prepare(); });
  }

  // One thread makes all ranks of this process, one after another, so that only one whole model is
  // in memory at a time. It does so within the world: ranks of other processes, which may be done
  // earlier, see that this one lives, or learn of its error.
  void MakeRanks(const TrainerOptions& options, const TrainingParts& parts) {
    std::mutex mutex;
    std::map<int, Transport*> transports;
    world.Run([&](Transport& transport) {
      const std::lock_guard lock(mutex);
      transports[transport.rank()] = &transport;
    });
    world.Run([&](Transport& first) {
      if (first.rank() != world.local().front()) return;
      const LongWork alive;
      for (const auto& [rank, transport] : transports)
        ranks.emplace(rank, std::make_unique<RankTrainer>(*transport, options, parts));
    });
  }

  void Run(const std::function<void(RankTrainer&)>& fn) {
    world.Run([&](Transport& transport) { fn(*ranks.at(transport.rank())); });
  }

  // `fn` returns the same error on all ranks and leaves no rank waiting, so the world can still be
  // used.
  void RunTogether(const std::function<std::exception_ptr(RankTrainer&)>& fn) {
    std::mutex mutex;
    std::exception_ptr failure;
    Run([&](RankTrainer& rank) {
      if (const std::exception_ptr same = fn(rank)) {
        const std::lock_guard lock(mutex);
        failure = same;
      }
    });
    if (failure) std::rethrow_exception(failure);
  }

  RankTrainer& first() const { return *ranks.begin()->second; }

  std::unique_ptr<World> own;  // null if the application passed a world
  World& world;
  std::map<int, std::unique_ptr<RankTrainer>> ranks;  // of this process
};

Trainer::Trainer(TrainerOptions options, TrainingParts parts) {
  std::unique_ptr<World> threads = Threads(options);
  impl_ = std::make_unique<Impl>(*threads, options, parts);
  impl_->own = std::move(threads);
}
Trainer::Trainer(World& world, TrainerOptions options, TrainingParts parts)
    : impl_(std::make_unique<Impl>(world, options, parts)) {}
Trainer::~Trainer() = default;

// TooManySkipped leaves no rank waiting, so it does not abort the world.
void Trainer::Train(int64_t end, const BatchFn& batches, const TrainHooks& hooks) {
  std::mutex mutex;
  std::optional<TooManySkipped> gave_up;
  impl_->Run([&](RankTrainer& rank) {
    try {
      rank.Train(end, batches, hooks);
    } catch (const TooManySkipped& error) {
      const std::lock_guard lock(mutex);
      gave_up = error;
    }
  });
  if (gave_up) throw *gave_up;
}

EvaluationResult Trainer::Evaluate(int64_t count, const BatchFn& batches,
                                   const std::function<bool()>& stop) {
  EvaluationResult result;
  impl_->Run([&](RankTrainer& rank) {
    const EvaluationResult same = rank.Evaluate(count, batches, stop);
    if (&rank == &impl_->first()) result = same;
  });
  return result;
}

void Trainer::Save(const std::string& folder, const std::map<std::string, std::string>& texts) {
  impl_->RunTogether([&](RankTrainer& rank) { return rank.Save(folder, texts); });
}

void Trainer::RequireSharedFolder(const std::string& folder) {
  impl_->RunTogether([&](RankTrainer& rank) { return rank.CheckSharedFolder(folder); });
}

TrainState Trainer::State() const {
  std::mutex mutex;
  std::map<int, StageTensors> stages;
  impl_->Run([&](RankTrainer& rank) {
    const std::map<int, StageTensors> own = rank.OwnTensors();
    const std::lock_guard lock(mutex);
    const auto& [replica, tensor] = std::pair(rank.place().replica, rank.place().tensor);
    const int before = (replica * tensor.size + tensor.rank) * schedule().num_stages;
    for (const auto& [stage, tensors] : own)
      stages[before + stage] =
          Copied(before == 0 ? tensors : StageTensors{.codecs = tensors.codecs});
  });
  TrainState state = Join(step(), stages);
  state.loss_scale = impl_->first().loss_scale();
  return state;
}

void Trainer::SetState(const StateSource& state) {
  const auto alive = impl_->world.Alive();
  for (const auto& [number, rank] : impl_->ranks) rank->SetState(state);
}

void Trainer::SetWeights(const std::vector<NamedTensor>& weights) {
  const auto alive = impl_->world.Alive();
  const StateSource source = SourceOf(TrainState{.weights = weights});
  for (const auto& [number, rank] : impl_->ranks) rank->SetWeights(source.weights);
}

int64_t Trainer::step() const { return impl_->first().step(); }
const TrainTotals& Trainer::totals() const { return impl_->first().totals(); }
const WorldLayout& Trainer::layout() const { return impl_->first().layout(); }
const Schedule& Trainer::schedule() const { return impl_->first().schedule(); }
const Cuts& Trainer::cuts() const { return impl_->first().cuts(); }

}  // namespace torus::parallel
