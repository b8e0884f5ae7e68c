#include "parallel/trainer/trainer.h"

#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "parallel/trainer/rank_trainer.h"
#include "parallel/trainer/state_copy.h"
#include "parallel/transport/run_ranks.h"
#include "runtime/error.h"
#include "runtime/long_work.h"
#include "runtime/progress.h"

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

// What the ranks' threads use. They own it too, since one that does not stop is left behind
// (StuckRank); so the functions that they run refer to nothing else but what the caller of the
// trainer keeps.
struct Trainer::Impl : std::enable_shared_from_this<Trainer::Impl> {
  explicit Impl(World& given) : world(given) {}
  explicit Impl(std::unique_ptr<World> made) : own(std::move(made)), world(*own) {}

  void Prepare(const TrainerOptions& options, const TrainingParts& parts) {
    MakeRanks(options, parts);
    Run([](RankTrainer& rank) { rank.Prepare(); });
  }

  // One thread makes all ranks of this process, one after another, so that only one whole model is
  // in memory at a time. It does so within the world: ranks of other processes, which may be done
  // earlier, see that this one lives, or learn of its error.
  void MakeRanks(const TrainerOptions& options, const TrainingParts& parts) {
    struct Transports {
      std::mutex mutex;
      std::map<int, Transport*> all;
    };
    const auto transports = std::make_shared<Transports>();
    RunWorld([transports](Transport& transport) {
      const std::lock_guard lock(transports->mutex);
      transports->all[transport.rank()] = &transport;
    });
    RunWorld([self = shared_from_this(), transports, options, parts](Transport& first) {
      if (first.rank() != self->world.local().front()) return;
      SayActivity("the making of the model");
      const LongWork alive;
      for (const auto& [rank, transport] : transports->all)
        self->ranks.emplace(rank, std::make_unique<RankTrainer>(*transport, options, parts));
    });
  }

  void Run(std::function<void(RankTrainer&)> fn) {
    RunWorld([self = shared_from_this(), fn = std::move(fn)](Transport& transport) {
      fn(*self->ranks.at(transport.rank()));
    });
  }

  // A rank that is left behind may still change its figures, so they are those of before.
  void RunWorld(const std::function<void(Transport&)>& fn) {
    if (!ranks.empty()) {
      step_before = first().step();
      totals_before = first().totals();
    }
    try {
      world.Run(fn);
    } catch (const StuckRank&) {
      stuck = true;
      throw;
    }
  }

  // `fn` returns the same error on all ranks and leaves no rank waiting, so the world can still be
  // used.
  void RunTogether(std::function<std::exception_ptr(RankTrainer&)> fn) {
    const auto failure = std::make_shared<Shared<std::exception_ptr>>();
    Run([failure, fn = std::move(fn)](RankTrainer& rank) {
      if (const std::exception_ptr same = fn(rank)) failure->Set(same);
    });
    if (failure->value) std::rethrow_exception(failure->value);
  }

  RankTrainer& first() const { return *ranks.begin()->second; }
  int64_t step() const { return stuck ? step_before : first().step(); }
  const TrainTotals& totals() const { return stuck ? totals_before : first().totals(); }

  // A result that several ranks set.
  template <class T>
  struct Shared {
    void Set(T other) {
      const std::lock_guard lock(mutex);
      value = std::move(other);
    }
    std::mutex mutex;
    T value{};
  };

  const std::unique_ptr<World> own;  // null if the application passed a world
  World& world;
  std::map<int, std::unique_ptr<RankTrainer>> ranks;  // of this process
  bool stuck = false;                                 // a thread of `ranks` was left behind
  int64_t step_before = 0;
  TrainTotals totals_before;
};

Trainer::Trainer(TrainerOptions options, TrainingParts parts)
    : impl_(std::make_shared<Impl>(Threads(options))) {
  impl_->Prepare(options, parts);
}
Trainer::Trainer(World& world, TrainerOptions options, TrainingParts parts)
    : impl_(std::make_shared<Impl>(world)) {
  impl_->Prepare(options, parts);
}
Trainer::~Trainer() = default;

// TooManySkipped leaves no rank waiting, so it does not abort the world.
void Trainer::Train(int64_t end, const BatchFn& batches, const TrainHooks& hooks) {
  const auto gave_up = std::make_shared<Impl::Shared<std::optional<TooManySkipped>>>();
  impl_->Run([=](RankTrainer& rank) {
    try {
      rank.Train(end, batches, hooks);
    } catch (const TooManySkipped& error) {
      gave_up->Set(error);
    }
  });
  if (gave_up->value) throw TooManySkipped(*gave_up->value);
}

EvaluationResult Trainer::Evaluate(int64_t count, const BatchFn& batches,
                                   const std::function<bool()>& stop) {
  const auto result = std::make_shared<Impl::Shared<EvaluationResult>>();
  impl_->Run([=, first = &impl_->first()](RankTrainer& rank) {
    const EvaluationResult same = rank.Evaluate(count, batches, stop);
    if (&rank == first) result->Set(same);
  });
  return result->value;
}

void Trainer::Save(const std::string& folder, const std::map<std::string, std::string>& texts) {
  impl_->RunTogether([=](RankTrainer& rank) { return rank.Save(folder, texts); });
}

void Trainer::RequireSharedFolder(const std::string& folder) {
  impl_->RunTogether([=](RankTrainer& rank) { return rank.CheckSharedFolder(folder); });
}

TrainState Trainer::State() const {
  struct Parts {
    std::mutex mutex;
    std::map<int, StageTensors> stages;
  };
  const auto parts = std::make_shared<Parts>();
  impl_->Run([parts, count = schedule().num_stages](RankTrainer& rank) {
    const std::map<int, StageTensors> own = rank.OwnTensors();
    const std::lock_guard lock(parts->mutex);
    const auto& [replica, tensor] = std::pair(rank.place().replica, rank.place().tensor);
    const int before = (replica * tensor.size + tensor.rank) * count;
    for (const auto& [stage, tensors] : own)
      parts->stages[before + stage] = Copied(before == 0 ? tensors : PartOfOther(tensors));
  });
  TrainState state = Join(step(), parts->stages);
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

int64_t Trainer::step() const { return impl_->step(); }
const TrainTotals& Trainer::totals() const { return impl_->totals(); }
const WorldLayout& Trainer::layout() const { return impl_->first().layout(); }
const Schedule& Trainer::schedule() const { return impl_->first().schedule(); }
const Cuts& Trainer::cuts() const { return impl_->first().cuts(); }

}  // namespace torus::parallel
