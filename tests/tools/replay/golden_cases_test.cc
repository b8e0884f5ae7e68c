// Calls of PyTorch's functions that tests/golden/make_op_cases.py made, and steps of small models
// of tools/replay/make_model_cases.py: all pass.
#include <gtest/gtest.h>

#include <sstream>

#include "runtime/stream.h"
#include "tools/replay/replay.h"

namespace torus::replay {
namespace {

void ExpectAllPass(Device device) {
  const std::vector<std::string> cases =
      FindCases({"tests/golden/op_cases", "tests/golden/model_cases"});
  std::stringstream out;
  const Totals totals = Replay(cases, device, out);
  EXPECT_EQ(totals.passed, std::ssize(cases)) << out.str();
}

TEST(GoldenCases, PassOnTheCpu) { ExpectAllPass({}); }

TEST(GoldenCases, PassOnAGpu) {
  if (GpuCount() == 0) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  ExpectAllPass({DeviceKind::kCuda, 0});
}

}  // namespace
}  // namespace torus::replay
