// The embedding example, built and run.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

TEST(TwoStage, Learns) {
  FILE* pipe = popen("tools/examples/two_stage", "r");
  ASSERT_NE(pipe, nullptr);
  std::string out;
  char buffer[256];
  while (std::fgets(buffer, sizeof buffer, pipe) != nullptr) out += buffer;
  EXPECT_EQ(pclose(pipe), 0);
  const size_t at = out.find("step 2000 loss ");
  ASSERT_NE(at, std::string::npos) << out;
  // The best line through sin x on [-3, 3] leaves 0.19: the net has learned to bend.
  EXPECT_LT(std::atof(out.c_str() + at + 15), 0.02) << out;
}

}  // namespace
