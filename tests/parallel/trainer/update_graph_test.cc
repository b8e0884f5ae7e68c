// Parts of an update that are launched as graphs. Skips where there is no GPU: run it with
// --config=emulated_gpu.
#include "parallel/trainer/update_graph.h"

#include <gtest/gtest.h>

#include "runtime/allocator.h"
#include "runtime/kernels.h"
#include "runtime/stream.h"

namespace torus::parallel {
namespace {

constexpr Device kGpu{DeviceKind::kCuda, 0};

UpdateGraph::Key KeyOf(const Tensor& tensor) {
  UpdateGraph::Key key;
  key.Add(tensor);
  return key;
}

Tensor OnGpu(float value) { return Full({3}, value, DType::kF32, kGpu); }

class UpdateGraphs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() == 0) GTEST_SKIP() << "no GPU, and no --config=emulated_gpu: NOT tested";
  }
  // Of the first element of x.
  float TenTimes(const Tensor& x) {
    const Tensor y = graph_.Run(KeyOf(x), step_++, [&] {
      ++calls_;
      Tensor times = x.Clone();
      ScaleInPlace(times, 10);
      return times;
    });
    return ToVector<float>(y)[0];
  }
  void Expect(int calls, int64_t launched) const {
    EXPECT_EQ(calls_, calls);
    EXPECT_EQ(graph_.launched(), launched);
    EXPECT_EQ(graph_.why_not(), "");
  }
  UpdateGraph graph_{kGpu, "test"};
  int64_t step_ = 0;
  int calls_ = 0;
};

TEST_F(UpdateGraphs, AreLaunchedWhereTheKeyIsTheRecordedOne) {
  Tensor x = OnGpu(1);
  const Tensor other = OnGpu(5);
  EXPECT_EQ(TenTimes(x), 10);
  Expect(1, 0);
  Fill(x, 2);
  EXPECT_EQ(TenTimes(x), 20);  // recorded
  Expect(2, 1);
  Fill(x, 3);
  EXPECT_EQ(TenTimes(x), 30);
  Expect(2, 2);
  EXPECT_EQ(TenTimes(other), 50);
  Expect(3, 2);
  EXPECT_EQ(TenTimes(x), 30);
  Expect(3, 3);
  EXPECT_EQ(TenTimes(other), 50);
  EXPECT_EQ(TenTimes(other), 50);  // recorded in the place of the first
  Expect(5, 4);
  EXPECT_EQ(TenTimes(x), 30);
  Expect(6, 4);
}

TEST_F(UpdateGraphs, TellTensorsApart) {
  const Tensor x = Full({2, 2}, 1, DType::kF32, kGpu);
  EXPECT_EQ(KeyOf(x), KeyOf(x));
  EXPECT_NE(KeyOf(x), KeyOf(x.Clone()));
  EXPECT_NE(KeyOf(x), KeyOf(Tensor()));
  EXPECT_NE(KeyOf(x), KeyOf(x.View({4})));
  EXPECT_NE(KeyOf(x), KeyOf(x.Transpose(0, 1)));
  UpdateGraph::Key counted = KeyOf(x), more = counted;
  counted.Add(1);
  more.Add(2);
  EXPECT_NE(counted, more);
}

TEST_F(UpdateGraphs, AreGivenUpForWorkThatWaits) {
  const Tensor x = OnGpu(7);
  for (int64_t step = 0; step < 3; ++step) {
    float read = 0;
    graph_.Run(KeyOf(x), step, [&] {
      read = ToVector<float>(x)[0];
      return Tensor();
    });
    EXPECT_EQ(read, 7);
  }
  EXPECT_EQ(graph_.launched(), 0);
  EXPECT_NE(graph_.why_not(), "");
}

TEST_F(UpdateGraphs, AreGivenUpWhereMemoryIsShort) {
  const Tensor x = OnGpu(7);
  Allocator& memory = AllocatorFor(kGpu);
  for (int64_t step = 0; step < 3; ++step) {
    memory.ReleaseCached();
    const Tensor y = graph_.Run(KeyOf(x), step, [&] {
      memory.SetLimit(GpuGraph::RecordedHere(kGpu) != nullptr ? memory.stats().held_bytes : 0);
      return x.Clone();
    });
    EXPECT_EQ(ToVector<float>(y)[0], 7);
  }
  EXPECT_EQ(graph_.launched(), 0);
  EXPECT_NE(graph_.why_not(), "");
}

}  // namespace
}  // namespace torus::parallel
