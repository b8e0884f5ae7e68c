// Small models of three kinds give the bits of one stage by every schedule, cut and number of
// micro-batches, over threads and over processes: with dropout, clipping, tied weights, masks that
// cross the cuts, recompute, and micro-batches of unequal size.
//
// The program runs its tests over threads, and then becomes two processes for the others.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstring>
#include <map>

#include "autograd/precision.h"
#include "parallel/optim/sgd.h"
#include "parallel/schedule/factory.h"
#include "parallel/trainer/trainer.h"
#include "parallel/transport/mpi/mpi_world.h"
#include "parallel/transport/nccl/nccl_world.h"
#include "runtime/vector_unit.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"
#include "tests/parallel/transport/nccl/over_fake.h"
#include "tests/recipes/model/small_models.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

constexpr int64_t kSteps = 4;
constexpr double kRate = 0.05;

struct Layout {
  std::string schedule = "gpipe";
  int stages = 1, chunks = 1;
  Cuts cuts;
  bool recompute = false;
  Precision precision;
};

// What there is of low types: emulated everywhere, native bf16 where the processor has it.
std::vector<Precision> LowPrecisions() {
  std::vector<Precision> all{DType::kBF16, DType::kF16};
  if (HasBf16Products()) all.push_back({DType::kBF16, MatmulMode::kNative});
  return all;
}

// Two ranks each.
const std::vector<Layout> kPairs{{"gpipe", 2},
                                 {"gpipe", 2, 1, {1}, true},
                                 {"1f1b", 2, 1, {4}},
                                 {"zb-h1", 2},
                                 {"zb-h1", 2, 1, {3}, true},
                                 {"u-shaped", 3},
                                 {"u-shaped", 3, 1, {1, 4}, true},
                                 {"interleaved", 4, 2},
                                 {"interleaved", 4, 2, {1, 2, 4}, true},
                                 {"zb-interleaved", 4, 2},
                                 {"zb-v", 4},
                                 {"v-half", 4, 1, {1, 2, 4}, true},
                                 {"v-min", 4},
                                 {"dualpipe-v", 4, 1, {1, 3, 5}, true}};

const std::vector<Layout> kMoreRanks{{"gpipe", 3, 1, {1, 5}},
                                     {"1f1b", 4, 1, {}, true},
                                     {"zb-h1", 4, 1, {1, 2, 3}},
                                     {"u-shaped", 4, 1, {1, 2, 4}},
                                     {"interleaved", 6, 2},
                                     {"gpipe", 6, 1, {1, 2, 3, 4, 5}},
                                     {"v-half", 6},
                                     {"dualpipe-v", 6}};

std::string Words(const Kind& kind, const Layout& layout, int micro_batches) {
  return fmt::format("{}, {}, {} stages, {} a rank, cuts {}, recompute {}, {} micro-batches",
                     kind.name, layout.schedule, layout.stages, layout.chunks,
                     fmt::join(layout.cuts, ","), layout.recompute, micro_batches);
}

TrainingParts PartsOf(const Kind& kind, const Layout& layout) {
  TrainingParts parts;
  parts.model = [&kind, &layout] { return BlocksOf(kind, layout.recompute, layout.precision); };
  parts.loss = [&kind, &layout](const auto& outputs, const auto& targets) {
    const WithPrecision precision(layout.precision);
    return kind.loss(outputs, targets[0]);
  };
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Sgd>(std::move(parameters), SgdOptions{.momentum = 0.9});
  };
  parts.learning_rate = [](int64_t) { return kRate; };
  parts.largest_inputs = InputsOf(kind);
  return parts;
}

struct Outcome {
  std::vector<double> losses;
  std::map<std::string, Tensor> tensors;  // weights, statistics and the optimizer's
};

void Add(const std::vector<NamedTensor>& tensors, Outcome& outcome) {
  for (const NamedTensor& tensor : tensors) outcome.tensors[tensor.name] = tensor.value;
}

// `world`: null for threads of this process.
Outcome Train(const Kind& kind, const Layout& layout, int micro_batches, World* world = nullptr) {
  const TrainerOptions options{.stages = layout.stages,
                               .chunks = layout.chunks,
                               .cuts = layout.cuts,
                               .micro_batches = micro_batches,
                               .schedule = layout.schedule,
                               .seed = 5,
                               .clip_norm = 0.5};
  const TrainingParts parts = PartsOf(kind, layout);
  const auto trainer = world != nullptr ? std::make_unique<Trainer>(*world, options, parts)
                                        : std::make_unique<Trainer>(options, parts);
  Outcome outcome;
  trainer->Train(kSteps,
                 [&](int64_t step, const RankPlace&) {
                   return BatchOf(kind, step, 0, RowsOf(step), micro_batches, RowsOf(step));
                 },
                 {.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }});
  const TrainState state = trainer->State();
  Add(state.weights, outcome);
  Add(state.optimizer, outcome);
  return outcome;
}

// `part` may have some of the tensors.
void ExpectSameBits(const Outcome& part, const Outcome& whole) {
  EXPECT_FALSE(part.tensors.empty());
  for (const auto& [name, tensor] : part.tensors) {
    const auto at = whole.tensors.find(name);
    ASSERT_NE(at, whole.tensors.end()) << name;
    ASSERT_EQ(tensor.bytes(), at->second.bytes()) << name;
    EXPECT_EQ(std::memcmp(tensor.raw(), at->second.raw(), tensor.bytes()), 0) << name;
  }
}

constexpr int kMicroBatches[] = {1, 2, 3};

TEST(EveryLayout, ThreadsGiveTheBitsOfOneStage) {
  for (const Kind& kind : Kinds())
    for (const int m : kMicroBatches) {
      const Outcome one = Train(kind, {}, m);
      ASSERT_EQ(one.losses.size(), static_cast<size_t>(kSteps));
      for (const auto* layouts : {&kPairs, &kMoreRanks})
        for (const Layout& layout : *layouts) {
          SCOPED_TRACE(Words(kind, layout, m));
          const Outcome other = Train(kind, layout, m);
          EXPECT_EQ(other.losses, one.losses);
          EXPECT_EQ(other.tensors.size(), one.tensors.size());
          ExpectSameBits(other, one);
        }
    }
}

// So do low types', which are other bits.
TEST(EveryLayout, ThreadsInLowTypesGiveTheBitsOfOneStageInThem) {
  for (const Kind& kind : Kinds()) {
    const Outcome full = Train(kind, {}, 3);
    for (const Precision& precision : LowPrecisions()) {
      const Outcome one = Train(kind, {.precision = precision}, 3);
      EXPECT_NE(one.losses, full.losses);
      for (const auto* layouts : {&kPairs, &kMoreRanks})
        for (Layout layout : *layouts) {
          layout.precision = precision;
          SCOPED_TRACE(Words(kind, layout, 3));
          const Outcome other = Train(kind, layout, 3);
          EXPECT_EQ(other.losses, one.losses);
          EXPECT_EQ(other.tensors.size(), one.tensors.size());
          ExpectSameBits(other, one);
        }
    }
  }
}

// Of two replicas in bf16, whose copies of weights must follow each step.
Outcome TrainReplicas(const Kind& kind, const Precision& precision, const std::string& strategy) {
  const TrainerOptions options{.replicas = 2, .micro_batches = 2, .strategy = strategy, .seed = 5};
  const Layout layout{.precision = precision};
  Trainer trainer(options, PartsOf(kind, layout));
  Outcome outcome;
  trainer.Train(kSteps,
                [&](int64_t step, const RankPlace& place) {
                  const int64_t first = place.replica * kRows / 2;
                  return BatchOf(kind, step, first, first + kRows / 2, 2, kRows);
                },
                {.on_step = [&](const StepReport& r) { outcome.losses.push_back(r.loss); }});
  Add(trainer.State().weights, outcome);
  return outcome;
}

TEST(EveryLayout, ThreadsOfEveryStrategyGiveTheSameBitsInLowTypes) {
  for (const Kind& kind : Kinds())
    for (const Precision& precision : LowPrecisions()) {
      const Outcome ddp = TrainReplicas(kind, precision, "ddp");
      for (const char* strategy : {"dataparallel", "ps", "ps-sharded", "zero1", "fsdp"}) {
        SCOPED_TRACE(fmt::format("{}, {}", kind.name, strategy));
        const Outcome other = TrainReplicas(kind, precision, strategy);
        EXPECT_EQ(other.losses, ddp.losses);
        ExpectSameBits(other, ddp);
      }
    }
}

// What crosses a cut moves by NCCL, as its fake does it.
TEST(EveryLayout, ThreadsOverNcclGiveTheBitsOfOneStage) {
  for (const Kind& kind : Kinds()) {
    const Outcome one = Train(kind, {}, 3);
    for (const auto* layouts : {&kPairs, &kMoreRanks})
      for (const Layout& layout : *layouts) {
        SCOPED_TRACE(Words(kind, layout, 3));
        FakeNccl fake;
        FakeWorld world(SizeOf(layout.schedule, layout.stages, 1, layout.chunks).ranks, fake);
        const Outcome other = Train(kind, layout, 3, &world);
        EXPECT_EQ(other.losses, one.losses);
        EXPECT_EQ(other.tensors.size(), one.tensors.size());
        ExpectSameBits(other, one);
        EXPECT_FALSE(fake.calls().empty());
        EXPECT_EQ(fake.faults(), std::vector<std::string>());
      }
  }
}

TEST(EveryLayout, ProcessesInLowTypesGiveTheBitsOfOneStageInThem) {
  for (const Kind& kind : Kinds())
    for (const Precision& precision : LowPrecisions()) {
      const Outcome one = Train(kind, {.precision = precision}, 2);
      const Layout layout{.schedule = "1f1b", .stages = 2, .precision = precision};
      MpiWorld world;
      ExpectSameBits(Train(kind, layout, 2, &world), one);
    }
}

// Each process compares what it owns, and that of rank 0 the losses.
TEST(EveryLayout, ProcessesGiveTheBitsOfOneStage) {
  ASSERT_EQ(MpiWorld::processes(), 2);
  for (const Kind& kind : Kinds())
    for (const int m : kMicroBatches) {
      const Outcome one = Train(kind, {}, m);
      for (const Layout& layout : kPairs) {
        SCOPED_TRACE(Words(kind, layout, m));
        MpiWorld world;
        const Outcome other = Train(kind, layout, m, &world);
        EXPECT_EQ(other.losses, MpiWorld::process() == 0 ? one.losses : std::vector<double>{});
        EXPECT_LT(other.tensors.size(), one.tensors.size());
        ExpectSameBits(other, one);
      }
    }
}

}  // namespace
}  // namespace torus::recipes

int main(int argc, char** argv) {
  using namespace torus::parallel;
  ::testing::InitGoogleTest(&argc, argv);
  const std::string tests = UnderMpirun() ? "*.Processes*" : "*.Threads*";
  ::testing::GTEST_FLAG(filter) = tests;
  const int status = RUN_ALL_TESTS();
  if (status != 0 || UnderMpirun()) return status;
  return RunMpirun(2, {argv, argv + argc});
}
