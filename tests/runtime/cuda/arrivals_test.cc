// The last of a launch's blocks ends what all have begun, in recorded launches and others.
#include "runtime/cuda/arrivals.h"

#include <gtest/gtest.h>

#include <vector>

#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/on_device.h"
#include "runtime/stream.h"
//
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};
constexpr int kThreads = 64;

// Adds the block's number to what lies in its place, and the sum of each group to that group's.
struct AddGroups {
  int64_t of_group;
  uint32_t* arrivals;
  int64_t *places, *sums;
  const int64_t* failing;

  template <int kThreads>
  __device__ void Run(int64_t block) const {
    const int64_t group = block / of_group;
    TORUS_CHECK(block != *failing, "block {} fails", block);
    if (threadIdx.x == kThreads - 1) places[block] += block;
    if (!ArrivesLast(arrivals, group, of_group)) return;
    if (threadIdx.x != 0) return;
    for (int64_t i = 0; i < of_group; ++i) sums[group] += places[group * of_group + i];
  }
};

class Arrivals : public testing::Test {
 protected:
  static constexpr int64_t kGroups = 70;  // more than a line of memory has counters
  void SetUp() override {
    if (!kEmulatedGpu) GTEST_SKIP() << "needs --config=emulated_gpu";
    sums_ = Zeros({kGroups}, DType::kI64, kGpu);
    failing_ = Full({1}, -1, DType::kI64, kGpu);
  }

  void Launch(int64_t of_group) {
    const StreamHandle stream = CurrentStream(kGpu);
    Tensor places = Zeros({kGroups * of_group}, DType::kI64, kGpu);
    counters_ = ArrivalCounters(kGroups, of_group, kGpu);
    ForEachBlock<kThreads>(
        "add_groups", kGroups * of_group, stream,
        AddGroups{of_group, CountersIn(counters_), MutableElements<int64_t>(places),
                  MutableElements<int64_t>(sums_), Elements<int64_t>(failing_)});
  }
  void ExpectSums(int64_t of_group, int64_t launches) const {
    std::vector<int64_t> want;
    for (int64_t group = 0; group < kGroups; ++group)
      want.push_back(launches * of_group * (2 * group * of_group + of_group - 1) / 2);
    EXPECT_EQ(ToVector<int64_t>(sums_), want) << of_group << " blocks a group";
  }
  void ExpectCountersOfZero() const {
    EXPECT_EQ(ToVector<int64_t>(counters_), std::vector<int64_t>(counters_.numel()));
  }

  Tensor sums_, failing_, counters_;
};

TEST_F(Arrivals, TheLastBlockOfEachGroupEndsIt) {
  for (const int64_t of_group : {1, 2, 5}) {
    torus::Fill(sums_, 0);
    for (int64_t launches = 1; launches <= 3; ++launches) {
      Launch(of_group);
      ExpectSums(of_group, launches);
    }
  }
}

TEST_F(Arrivals, GroupsOfOneBlockNeedNoCounters) {
  Launch(1);
  EXPECT_FALSE(counters_.defined());
}

// The counters are written before the first launch alone.
TEST_F(Arrivals, ARecordedLaunchKeepsItsCounters) {
  GpuGraph graph(kGpu);
  graph.Record([&] {
    Launch(5);
    Launch(5);
  });
  for (int64_t launch = 0; launch < 3; ++launch) {
    graph.Launch(launch);
    ExpectSums(5, 2 * launch + 2);
    ExpectCountersOfZero();
  }
}

TEST_F(Arrivals, RecordedLaunchesHaveCountersOfTheirOwn) {
  GpuGraph graph(kGpu);
  Tensor first;
  graph.Record([&] {
    Launch(2);
    first = counters_;
    Launch(2);
  });
  EXPECT_GE(static_cast<const char*>(counters_.raw()) - static_cast<const char*>(first.raw()),
            static_cast<ptrdiff_t>(kGroups * sizeof(uint32_t)));
}

// On a real GPU nothing runs behind a kernel that failed.
TEST_F(Arrivals, OfALaunchThatFailsAreZeroForTheNext) {
  GpuGraph graph(kGpu);
  graph.Record([&] { Launch(5); });
  for (const int64_t block : {0, 2, 152, 153, 349}) {
    torus::Fill(failing_, static_cast<double>(block));
    graph.Launch(0);
    Event done(kGpu);
    done.Record(CurrentStream(kGpu));
    EXPECT_THROW(done.Wait(), InternalError);
    ExpectCountersOfZero();
  }
  torus::Fill(failing_, -1);
  torus::Fill(sums_, 0);
  graph.Launch(0);
  ExpectSums(5, 1);
}

}  // namespace
}  // namespace torus::cuda
