#include "recipes/settings/device.h"

#include <gtest/gtest.h>

#include "runtime/stream.h"
#include "tests/testing/error_of.h"

namespace torus::recipes {
namespace {

// A user has the programs, and may not know what builds them with what.
TEST(CheckedDevice, SaysWhatBuildsProgramsForGpus) {
  if (GpuCount() > 0) GTEST_SKIP() << "there is a GPU";
  const std::string refused = torus::testing::ErrorOf([] { CheckedDevice("evaluate", "cuda"); });
  EXPECT_EQ(refused, "[evaluate] --device cuda: " + WhyNoGpu());
  const bool by_build = refused.find("./bazelw with --config=cuda") != std::string::npos;
  const bool by_machine = refused.find("this machine has no GPU") != std::string::npos;
  EXPECT_TRUE(by_build || by_machine) << refused;
}

TEST(CheckedDevice, NamesTheDevices) {
  EXPECT_EQ(torus::testing::ErrorOf([] { CheckedDevice("evaluate", "gpu"); }),
            "[evaluate] --device must be one of cpu, cuda, got gpu");
  EXPECT_EQ(CheckedDevice("evaluate", "cpu"), Device{});
}

}  // namespace
}  // namespace torus::recipes
