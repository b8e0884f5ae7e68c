// Labs on GPUs. Skips where there are no two: run it with --config=emulated_gpu.
#include <gtest/gtest.h>

#include "runtime/stream.h"
#include "tests/tools/labs/questions/small_lab.h"
#include "tools/labs/questions/drift.h"
#include "tools/labs/questions/wire.h"

namespace torus::labs {
namespace {

// Emulated images are slow: two steps.
LabOptions GpuLab() {
  LabOptions options = testing::SmallLab();
  options.settings.model = "mobilenet_v2:0.1";
  options.settings.device = "cuda";
  options.ranks = {2};
  options.steps = 1;
  options.images = 8;
  options.test_images = 4;
  return options;
}

class GpuLabs : public ::testing::Test {
 protected:
  void SetUp() override {
    if (GpuCount() < 2) GTEST_SKIP() << "no two GPUs, no --config=emulated_gpu: NOT tested";
  }
};

TEST_F(GpuLabs, CountTheSameBytes) {
  const WireCounts counts = CountWire(GpuLab(), testing::Silent);
  EXPECT_EQ(counts.steps, 2);
  EXPECT_EQ(counts.epoch.at(Cargo::kGradients).bytes, ExpectedGradients(counts));
  EXPECT_EQ(counts.set_up.at(Cargo::kInitialWeights).bytes, ExpectedWeights(counts));
  EXPECT_EQ(counts.epoch.count(Cargo::kOther), 0u);
}

TEST_F(GpuLabs, SeeReplicasDriftOnlyWhereWeightsAreTheirOwn) {
  const LabOptions options = GpuLab();
  EXPECT_EQ(MeasureDrift(options, {"shared", true, true}, testing::Silent).distances,
            (std::vector<double>{0, 0}));
  EXPECT_GT(MeasureDrift(options, {"own", false, true}, testing::Silent).distances[1], 0);
}

}  // namespace
}  // namespace torus::labs
