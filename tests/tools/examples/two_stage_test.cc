// The embedding example, built and run.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "tests/testing/command.h"

namespace {

TEST(TwoStage, Learns) {
  const auto [status, out] = torus::testing::RunCommand("tools/examples/two_stage");
  EXPECT_EQ(status, 0);
  const size_t at = out.find("step 2000 loss ");
  ASSERT_NE(at, std::string::npos) << out;
  // The best line through sin x on [-3, 3] leaves 0.19: the net has learned to bend.
  EXPECT_LT(std::atof(out.c_str() + at + 15), 0.02) << out;
}

}  // namespace
