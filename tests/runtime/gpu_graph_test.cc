// Skips where there is no GPU: run it with --config=emulated_gpu.
#include "runtime/gpu_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "runtime/allocator.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};
using Floats = std::vector<float>;

class RecordedGraph : public testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
};

void Set(Tensor& to, const Floats& values) { Copy(FromVector(values, {std::ssize(values)}), to); }

TEST_F(RecordedGraph, DoesAtEachLaunchWhatWasRecorded) {
  Tensor x = Zeros({3}, DType::kF32, kGpu), sum = Zeros({3}, DType::kF32, kGpu), y;
  GpuGraph graph(kGpu);
  graph.Record([&] {
    y = x.Clone();
    ScaleInPlace(y, 10);
    AddInPlace(sum, y);
  });
  EXPECT_EQ(ToVector<float>(sum), Floats({0, 0, 0}));
  Set(x, {1, 2, 3});
  graph.Launch(0);
  EXPECT_EQ(ToVector<float>(y), Floats({10, 20, 30}));
  Set(x, {4, 5, 6});
  graph.Launch(1);
  graph.Launch(2);
  EXPECT_EQ(ToVector<float>(y), Floats({40, 50, 60}));
  EXPECT_EQ(ToVector<float>(sum), Floats({90, 120, 150}));
}

// What was freed while recording is written at each launch.
TEST_F(RecordedGraph, KeepsTheMemoryOfWhatItFreed) {
  constexpr int64_t kMany = 1000;
  Tensor x = Full({kMany}, 1, DType::kF32, kGpu), y;
  GpuGraph graph(kGpu);
  graph.Record([&] {
    Tensor between = x.Clone();
    ScaleInPlace(between, 2);
    y = between.Clone();
  });
  std::vector<Tensor> others;
  for (int i = 0; i < 8; ++i) others.push_back(Full({kMany}, 7, DType::kF32, kGpu));
  graph.Launch(0);
  for (const Tensor& other : others)
    EXPECT_EQ(std::ranges::count(ToVector<float>(other), 7.0f), kMany);
  EXPECT_EQ(std::ranges::count(ToVector<float>(y), 2.0f), kMany);
}

// What was recorded before a shortage is launched all the same, if the work goes on without.
TEST_F(RecordedGraph, KeepsTheMemoryOfWhatItFreedInAShortage) {
  constexpr int64_t kMany = 1 << 20;
  Allocator& memory = AllocatorFor(kGpu);
  const Tensor x = Full({kMany}, 1, DType::kF32, kGpu);
  Tensor y = Zeros({kMany}, DType::kF32, kGpu);
  const size_t limit = memory.stats().limit_bytes;
  GpuGraph graph(kGpu);
  graph.Record([&] {
    {
      Tensor between = x.Clone();
      ScaleInPlace(between, 2);
      Copy(between, y);
    }
    memory.SetLimit(memory.stats().held_bytes + (1 << 20));
    EXPECT_THROW(Tensor({2 * kMany}, DType::kF32, kGpu), BrokenEnvironment);
    memory.SetLimit(limit);
  });
  const Tensor other = Full({kMany}, 7, DType::kF32, kGpu);
  graph.Launch(0);
  EXPECT_EQ(std::ranges::count(ToVector<float>(y), 2.0f), kMany);
  EXPECT_EQ(std::ranges::count(ToVector<float>(other), 7.0f), kMany);
}

TEST_F(RecordedGraph, GivesItsMemoryBackWithTheLastOfItsTensors) {
  const size_t before = AllocatorFor(kGpu).stats().live_bytes;
  Tensor y;
  {
    GpuGraph graph(kGpu);
    graph.Record([&] {
      Zeros({5000}, DType::kF32, kGpu);
      y = Full({1000}, 3, DType::kF32, kGpu);
      graph.Renewed(1, [](int64_t, std::span<int64_t> words) { words[0] = 0; });
    });
    graph.Launch(0);
  }
  EXPECT_EQ(std::ranges::count(ToVector<float>(y), 3.0f), 1000);
  EXPECT_GT(AllocatorFor(kGpu).stats().live_bytes, before);
  y = Tensor();
  EXPECT_EQ(AllocatorFor(kGpu).stats().live_bytes, before);
}

TEST_F(RecordedGraph, RenewsItsNumbersForEachLaunch) {
  constexpr int64_t kMany = 40000;  // more than one part has
  Tensor few, many, sums = Zeros({2}, DType::kI64, kGpu);
  GpuGraph graph(kGpu);
  graph.Record([&] {
    few = graph.Renewed(2, [](int64_t step, std::span<int64_t> words) {
      words[0] = step;
      words[1] = 100 * step;
    });
    many = graph.Renewed(
        kMany, [](int64_t step, std::span<int64_t> words) { std::ranges::fill(words, -step); });
    AddInPlace(sums, few);
  });
  for (const int64_t step : {3, 4, 9}) {
    graph.Launch(step);
    EXPECT_EQ(ToVector<int64_t>(few), std::vector<int64_t>({step, 100 * step}));
    EXPECT_EQ(std::ranges::count(ToVector<int64_t>(many), -step), kMany);
  }
  // Launched without a wait in between, each has its own.
  for (const int64_t step : {10, 20, 30}) graph.Launch(step);
  EXPECT_EQ(ToVector<int64_t>(sums), std::vector<int64_t>({76, 7600}));
}

TEST_F(RecordedGraph, KeepsTablesFromItsFirstLaunchOn) {
  constexpr int64_t kMany = 40000;  // more than one part has
  Tensor few, sum = Zeros({2}, DType::kI64, kGpu);
  Tensor many;
  GpuGraph graph(kGpu);
  graph.Record([&] {
    few = graph.Kept(std::vector<int64_t>{5, 7});
    many = graph.Kept(std::vector<int64_t>(kMany, 9));
    AddInPlace(sum, few);
  });
  for (int64_t step = 0; step < 3; ++step) graph.Launch(step);
  EXPECT_EQ(ToVector<int64_t>(sum), std::vector<int64_t>({15, 21}));
  EXPECT_EQ(std::ranges::count(ToVector<int64_t>(many), 9), kMany);
  // It is there once: a launch does not write it again.
  Fill(few, 1);
  graph.Launch(3);
  EXPECT_EQ(ToVector<int64_t>(sum), std::vector<int64_t>({16, 22}));
}

// Memory that the recording had freed before would be written by the work behind the words.
TEST_F(RecordedGraph, KeepsRenewedNumbersOutOfTheMemoryOfWhatItFreed) {
  constexpr int64_t kMany = 1 << 16;  // floats, as many bytes as a part of the words
  const Tensor x = Full({kMany}, 1, DType::kF32, kGpu);
  Tensor sum = Zeros({1}, DType::kI64, kGpu);
  GpuGraph graph(kGpu);
  graph.Record([&] {
    Tensor between = x.Clone();
    ScaleInPlace(between, 2);
    between = Tensor();
    AddInPlace(sum, graph.Renewed(1, [](int64_t step, std::span<int64_t> w) { w[0] = step; }));
  });
  for (const int64_t step : {5, 7}) graph.Launch(step);
  EXPECT_EQ(ToVector<int64_t>(sum), std::vector<int64_t>({12}));
}

// The sum of as many elements as a number in the GPU's memory says.
TEST_F(RecordedGraph, AssumesTheNumbersThatWereReadBefore) {
  Tensor x = Full({4}, 3, DType::kF32, kGpu), count = Full({1}, 2, DType::kI64, kGpu), y;
  const auto work = [&] { y = x.Narrow(0, 0, ReadNumber(count)).Clone(); };
  std::vector<int64_t> read;
  {
    const NumberLog log;
    work();
    read = log.numbers();
  }
  EXPECT_EQ(read, std::vector<int64_t>({2}));
  GpuGraph graph(kGpu);
  graph.Assume(read);
  graph.Record(work);
  graph.Launch(0);
  EXPECT_TRUE(graph.Held());
  EXPECT_EQ(ToVector<float>(y), Floats({3, 3}));
  Fill(count, 3);
  graph.Launch(1);
  EXPECT_FALSE(graph.Held());
  Fill(count, 2);
  graph.Launch(2);
  EXPECT_TRUE(graph.Held());
}

TEST_F(RecordedGraph, IsSpoiltByReadingANumberThatIsNotKnown) {
  const Tensor count = Full({1}, 2, DType::kI64, kGpu);
  GpuGraph graph(kGpu);
  EXPECT_THROW(graph.Record([&] { ReadNumber(count); }), BrokenEnvironment);
}

TEST_F(RecordedGraph, IsSpoiltByReadingTheGpusMemory) {
  const Tensor x = Full({2}, 5, DType::kF32, kGpu);
  GpuGraph graph(kGpu);
  EXPECT_THROW(graph.Record([&] { ToVector<float>(x.Clone()); }), BrokenEnvironment);
  EXPECT_EQ(GpuGraph::RecordedHere(kGpu), nullptr);
  EXPECT_EQ(PoolHere(kGpu), nullptr);
  EXPECT_EQ(ToVector<float>(x), Floats({5, 5}));
  GpuGraph again(kGpu);
  again.Record([&] { EXPECT_EQ(GpuGraph::RecordedHere(kGpu), &again); });
  again.Launch(0);
}

TEST_F(RecordedGraph, PassesOnWhatTheWorkThrows) {
  GpuGraph graph(kGpu);
  EXPECT_THROW(graph.Record([] { Throw<BadInput>("work", "fails"); }), BadInput);
  EXPECT_EQ(ToVector<float>(Full({1}, 2, DType::kF32, kGpu)), Floats({2}));
}

TEST(GpuGraph, IsAGpus) { EXPECT_THROW(GpuGraph(Device{}), BadInput); }

}  // namespace
}  // namespace torus
