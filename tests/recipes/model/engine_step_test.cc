// One step of three replicas whose gradients the library under the transport sums, MPI or NCCL
// (here its fake, which sums in another order than ours): held to our own sum, within what the
// order of a sum may change.
//
// The program runs its tests over threads, and then becomes three processes for the others.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <map>

#include "parallel/optim/sgd.h"
#include "parallel/transport/mpi/mpi_world.h"
#include "parallel/transport/nccl/nccl_world.h"
#include "runtime/stream.h"
#include "tests/parallel/transport/mpi/under_mpirun.h"
#include "tests/parallel/transport/nccl/over_fake.h"
#include "tests/recipes/model/small_models.h"

namespace torus::recipes {
namespace {

using namespace parallel;  // NOLINT: the trainer's words
using namespace testing;   // NOLINT: the models

constexpr int kReplicas = 3;
constexpr double kRate = 0.05;
constexpr double kUnit = std::numeric_limits<float>::epsilon() / 2;

using Weights = std::map<std::string, Tensor>;

TrainingParts PartsOf(const Kind& kind) {
  TrainingParts parts;
  parts.model = [&kind] { return BlocksOf(kind, false); };
  parts.loss = [&kind](const auto& outputs, const auto& targets) {
    return kind.loss(outputs, targets[0]);
  };
  parts.optimizer = [](std::vector<NamedVariable> parameters) {
    return std::make_unique<Sgd>(std::move(parameters), SgdOptions{});
  };
  parts.learning_rate = [](int64_t) { return kRate; };
  parts.largest_inputs = InputsOf(kind);
  return parts;
}

// Rows 0-2, 3-5 and 6-7.
MiniBatch ShareOf(const Kind& kind, int replica) {
  const int64_t first = 3 * replica, last = std::min(first + 3, kRows);
  return BatchOf(kind, 0, first, last, 1, kRows);
}

Weights WeightsOf(const Trainer& trainer) {
  Weights weights;
  for (const NamedTensor& tensor : trainer.State().weights) weights[tensor.name] = tensor.value;
  return weights;
}

// `world`: null for threads of this process.
Weights Step(const Kind& kind, const std::string& collectives, World* world = nullptr) {
  const TrainerOptions options{.replicas = kReplicas, .collectives = collectives, .seed = 5};
  const auto trainer = world != nullptr ? std::make_unique<Trainer>(*world, options, PartsOf(kind))
                                        : std::make_unique<Trainer>(options, PartsOf(kind));
  trainer->Train(1, [&](int64_t, const RankPlace& place) { return ShareOf(kind, place.replica); });
  return WeightsOf(*trainer);
}

// Weights before the step, and behind one with a single replica's gradients, which are added with
// the weight of its rows.
Weights Before(const Kind& kind) { return WeightsOf(Trainer({.seed = 5}, PartsOf(kind))); }
Weights OfOneShare(const Kind& kind, int replica) {
  Trainer trainer({.seed = 5}, PartsOf(kind));
  trainer.Train(1, [&](int64_t, const RankPlace&) { return ShareOf(kind, replica); });
  return WeightsOf(trainer);
}

// By how much an element may differ. A sum of R terms g_r is off by at most (R - 1) u sum |g_r|
// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, equation 4.4), its
// product with the rate and the new weight w by u of themselves, in either of the two runs; and
// |g_r| times the rate is how far a share alone takes the weight, to u |w|.
struct Bounds {
  Weights before;
  std::vector<Weights> shares;

  explicit Bounds(const Kind& kind) : before(Before(kind)) {
    for (int r = 0; r < kReplicas; ++r) shares.push_back(OfOneShare(kind, r));
  }
  double Of(const std::string& name, int64_t i) const {
    const double w = before.at(name).data<float>()[i];
    double moves = 0;
    for (const Weights& share : shares) moves += std::abs(share.at(name).data<float>()[i] - w);
    const double first_order = 2 * kUnit * (kReplicas * moves + std::abs(w) + moves);
    return first_order * (1 + 8 * kReplicas * kUnit) + std::numeric_limits<float>::denorm_min();
  }
};

// How many elements differ at all.
int64_t ExpectWithin(const Bounds& bounds, const Weights& got, const Weights& want) {
  int64_t different = 0;
  for (const auto& [name, tensor] : got) {
    if (tensor.dtype() != DType::kF32) continue;
    const float* const a = tensor.data<float>();
    const float* const b = want.at(name).data<float>();
    for (int64_t i = 0; i < tensor.numel(); ++i) {
      different += a[i] != b[i];
      EXPECT_LE(std::abs(double{a[i]} - double{b[i]}), bounds.Of(name, i)) << name << ' ' << i;
    }
  }
  return different;
}

TEST(EngineStep, OverThreadsNcclSumsWithinTheBound) {
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    FakeNccl fake;
    FakeWorld world(kReplicas, fake);
    const Weights direct = Step(kind, "direct");
    const Weights nccl = Step(kind, "engine", &world);
    EXPECT_EQ(nccl.size(), direct.size());
    EXPECT_GT(ExpectWithin(Bounds(kind), nccl, direct), 0);
    EXPECT_EQ(fake.faults(), std::vector<std::string>());
  }
}

// With our own sum, what NCCL moves changes no bit.
TEST(EngineStep, OverThreadsNcclMovesTheBitsOfOurSum) {
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    FakeNccl fake;
    FakeWorld world(kReplicas, fake);
    const Weights direct = Step(kind, "direct");
    for (const auto& [name, tensor] : Step(kind, "direct", &world))
      EXPECT_EQ(std::memcmp(tensor.raw(), direct.at(name).raw(), tensor.bytes()), 0) << name;
    EXPECT_FALSE(fake.calls().empty());
  }
}

// NCCL does not tell what it sends.
TEST(EngineStep, OverThreadsWhatNcclSumsIsListedAsComputed) {
  FakeNccl fake;
  FakeWorld world(kReplicas, fake);
  const Kind& kind = Kinds()[0];
  Trainer trainer(world, {.replicas = kReplicas, .collectives = "engine", .seed = 5},
                  PartsOf(kind));
  trainer.Train(1, [&](int64_t, const RankPlace& place) { return ShareOf(kind, place.replica); });
  uint64_t around_rings = 0, listed = 0;
  for (const std::string& call : fake.calls())
    if (call.starts_with("sum "))
      around_rings += 2 * (kReplicas - 1) * std::stoull(call.substr(4)) / kReplicas;
  for (const LinkBytes& link : trainer.totals().links)
    if (link.what == "all-reduce, computed") {
      EXPECT_EQ(link.to, (link.from + 1) % kReplicas);
      listed += link.sent;
    }
  EXPECT_GT(listed, 0u);
  EXPECT_EQ(listed, around_rings);
}

TEST(EngineStep, InProcessesMpiSumsWithinTheBound) {
  ASSERT_EQ(MpiWorld::processes(), kReplicas);
  for (const Kind& kind : Kinds()) {
    SCOPED_TRACE(kind.name);
    const Weights direct = Step(kind, "direct");
    const Bounds bounds(kind);
    MpiWorld world;
    const Weights mpi = Step(kind, "engine", &world);
    EXPECT_EQ(mpi.size(), MpiWorld::process() == 0 ? direct.size() : 0);  // replica 0 has them
    ExpectWithin(bounds, mpi, direct);
  }
}

// Nor does MPI; the buckets that it sums for GPUs are in the CPU's memory. They have one number
// more for each parameter (gradient_buckets.h).
TEST(EngineStep, InProcessesWhatMpiSumsIsListedAsComputed) {
  const Kind& kind = Kinds()[0];
  uint64_t bytes = 0;
  for (const Block& block : BlocksOf(kind, false))
    for (const NamedVariable& parameter : block.parameters)
      bytes += parameter.value.data().bytes() + sizeof(float);
  std::vector<DeviceKind> devices{DeviceKind::kCpu};
  if (GpuCount() > 0) devices.push_back(DeviceKind::kCuda);
  for (const DeviceKind device : devices) {
    MpiWorld world;
    Trainer trainer(world,
                    {.device = device, .replicas = kReplicas, .collectives = "engine", .seed = 5},
                    PartsOf(kind));
    trainer.Train(1, [&](int64_t, const RankPlace& place) { return ShareOf(kind, place.replica); });
    if (MpiWorld::process() != 0) continue;  // replica 0 has the totals
    std::map<int, uint64_t> listed;          // by the rank that sends
    for (const LinkBytes& link : trainer.totals().links) {
      if (link.what != "all-reduce, computed") continue;
      EXPECT_EQ(link.to, (link.from + 1) % kReplicas);
      listed[link.from] += link.sent;
    }
    const uint64_t around = 2 * (kReplicas - 1) * bytes / kReplicas;
    EXPECT_EQ(listed, (std::map<int, uint64_t>{{0, around}, {1, around}, {2, around}}));
  }
}

}  // namespace
}  // namespace torus::recipes

int main(int argc, char** argv) {
  using namespace torus::parallel;
  testing::InitGoogleTest(&argc, argv);
  const std::string tests = UnderMpirun() ? "*.InProcesses*" : "*.OverThreads*";
  testing::GTEST_FLAG(filter) = tests;
  const int status = RUN_ALL_TESTS();
  if (status != 0 || UnderMpirun()) return status;
  return RunMpirun(3, {argv, argv + argc});
}
