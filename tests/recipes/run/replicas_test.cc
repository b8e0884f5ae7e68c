// Replicas of MobileNetV2: their gradients are those of one, and they stay equal.
#include <cmath>
#include <map>
#include <mutex>

#include "tests/recipes/run/image_run.h"

namespace torus::recipes::testing {
namespace {

using parallel::Block;
using parallel::RankPlace;
using Values = std::map<std::string, std::vector<double>>;

constexpr int64_t kSteps = 50;

// Gradients of the last step, as replica 0 has them.
class GradientWatch {
 public:
  parallel::TrainerOptions options() {
    return {.on_gradients = [this](const RankPlace& place, int64_t,
                                   const std::vector<NamedVariable>& parameters) {
      const std::lock_guard lock(mutex_);
      if (place.replica != 0) return;
      for (const NamedVariable& p : parameters)
        values[p.name] = ToVector<double>(p.value.grad().To(DType::kF64));
    }};
  }
  Values values;

 private:
  std::mutex mutex_;
};

// Sum over the micro-batches of the absolute value of each one's gradient, where every replica has
// a single micro-batch: then a leaf holds its gradient when its hook is called.
class AbsoluteSum {
 public:
  ImageRun::OnBlocks on_blocks() {
    return [this](const std::vector<Block>& blocks) {
      for (const Block& block : blocks)
        for (NamedVariable p : block.parameters)
          p.value.AddHook([this, name = p.name](const Variable& leaf) { Add(name, leaf.grad()); });
    };
  }
  Values Take() { return std::exchange(sums_, {}); }

 private:
  void Add(const std::string& name, const Tensor& gradient) {
    const std::vector<double> values = ToVector<double>(gradient.To(DType::kF64));
    const std::lock_guard lock(mutex_);
    std::vector<double>& sum = sums_[name];
    sum.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) sum[i] += std::abs(values[i]);
  }
  std::mutex mutex_;
  Values sums_;
};

// A micro-batch's gradient has the same bits in every layout: the same samples, weights, kernels
// and threads. Layouts differ in the order in which n = 4 of them are added, and any order of n - 1
// additions with unit roundoff u = 2^-24 errs by at most (n - 1) u / (1 - (n - 1) u) times the sum
// of absolute values (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). Two
// orders differ by at most twice that. The bound itself is computed in double, hence the last
// factor.
void ExpectSameUpToOrder(const Values& one, const Values& many, const Values& absolute) {
  constexpr double kRoundoff = 1.0 / (1 << 24);
  constexpr double kBound = 2 * (3 * kRoundoff / (1 - 3 * kRoundoff)) * (1 + 1e-9);
  ASSERT_EQ(one.size(), many.size());
  ASSERT_EQ(one.size(), absolute.size());
  double size = 0;
  for (const auto& [name, gradient] : one) {
    const std::vector<double>& other = many.at(name);
    const std::vector<double>& sum = absolute.at(name);
    ASSERT_EQ(gradient.size(), other.size());
    for (size_t i = 0; i < gradient.size(); ++i) {
      ASSERT_LE(std::abs(gradient[i] - other[i]), kBound * sum[i]) << name << " element " << i;
      size += sum[i];
    }
  }
  EXPECT_GT(size, 0);
}

TEST(Replicas, GiveTheGradientsOfOneFromItsStateInEachOf50Steps) {
  GradientWatch one_watch, two_watch, four_watch;
  AbsoluteSum absolute;
  ImageRun one(SmallSettings(1, 1, 4), one_watch.options());
  ImageRun two(SmallSettings(1, 2, 2), two_watch.options());
  ImageRun four(SmallSettings(1, 4, 1), four_watch.options(), absolute.on_blocks());
  for (int64_t step = 0; step < kSteps; ++step) {
    const parallel::TrainState state = one.trainer().State();
    two.trainer().SetState(state);
    four.trainer().SetState(state);
    for (ImageRun* run : {&one, &two, &four}) run->TrainTo(step + 1);
    SCOPED_TRACE(fmt::format("step {}", step));
    const Values sums = absolute.Take();
    ExpectSameUpToOrder(one_watch.values, two_watch.values, sums);
    ExpectSameUpToOrder(one_watch.values, four_watch.values, sums);
    if (HasFatalFailure()) return;
  }
}

// The blocks that each replica's ranks run, of the models that each of them made.
std::vector<std::vector<Block>> BlocksOfReplicas(const std::vector<std::vector<Block>>& of_ranks,
                                                 const parallel::Trainer& trainer) {
  std::vector<std::vector<Block>> models(trainer.layout().replicas());
  for (const RankPlace& place : trainer.layout().places()) {
    const std::vector<Block>& blocks = of_ranks.at(place.rank);
    const parallel::Cuts& cuts = trainer.cuts();
    const size_t s = place.stages.at(0);
    const auto begin = s == 0 ? 0 : cuts[s - 1];
    const auto end = s == cuts.size() ? static_cast<int>(blocks.size()) : cuts[s];
    models[place.replica].insert(models[place.replica].end(), blocks.begin() + begin,
                                 blocks.begin() + end);
  }
  return models;
}

// A rank's blocks share their memory with the trainer's.
void ExpectAllHoldEqualBits(const Settings& settings) {
  std::vector<std::vector<Block>> of_ranks;
  ImageRun run(settings, {}, [&](const std::vector<Block>& blocks) { of_ranks.push_back(blocks); });
  run.TrainTo(kSteps);
  ASSERT_EQ(of_ranks.size(), static_cast<size_t>(settings.replicas * settings.stages));
  const std::vector<std::vector<Block>> models = BlocksOfReplicas(of_ranks, run.trainer());
  int statistics = 0;
  for (size_t r = 1; r < models.size(); ++r) {
    for (size_t b = 0; b < models[0].size(); ++b) {
      const Block &first = models[0][b], &other = models[r][b];
      for (size_t i = 0; i < first.parameters.size(); ++i)
        EXPECT_TRUE(EqualBits(first.parameters[i].value.data(), other.parameters[i].value.data()))
            << "replica " << r << ", " << first.parameters[i].name;
      for (size_t i = 0; i < first.buffers.size(); ++i, ++statistics)
        EXPECT_TRUE(EqualBits(first.buffers[i].value, other.buffers[i].value))
            << "replica " << r << ", " << first.buffers[i].name;
    }
  }
  EXPECT_GT(statistics, 100);
}

TEST(Replicas, TwoHoldEqualBitsAfter50Steps) { ExpectAllHoldEqualBits(SmallSettings(2, 2, 2)); }

TEST(Replicas, FourHoldEqualBitsAfter50Steps) { ExpectAllHoldEqualBits(SmallSettings(1, 4, 1)); }

}  // namespace
}  // namespace torus::recipes::testing
