// What a step's line says, where it is not redrawn.
#include "tools/train/progress_line.h"

#include <gtest/gtest.h>

#include <string>

namespace torus::tools {
namespace {

// The line of a run's only step, of 4 samples in half a second.
std::string LineOf(const recipes::RunStart& start) {
  std::FILE* const file = std::tmpfile();
  ProgressLine(file, start).Show({.step = 0, .loss = 2.5, .samples = 4, .seconds = 0.5});
  std::rewind(file);
  std::string text(200, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  std::fclose(file);
  return text;
}

TEST(ProgressLine, SaysHowManySamplesASecond) {
  EXPECT_EQ(LineOf({.unit = "images", .end = 1}), "step 1/1  loss 2.5000  8 images/s  ETA 0 ms\n");
}

// A window takes 50 ms at the peak, and took 125.
TEST(ProgressLine, SaysHowManyTokensASecondAndTheirShareOfThePeak) {
  EXPECT_EQ(LineOf({.unit = "windows", .end = 1, .text = {.tokens = 1024, .peak_seconds = 0.05}}),
            "step 1/1  loss 2.5000  8 windows/s, 8,192 tokens/s (40 % of the measured peak)  ETA 0 "
            "ms\n");
  EXPECT_EQ(LineOf({.unit = "windows", .end = 1, .text = {.tokens = 1024}}),
            "step 1/1  loss 2.5000  8 windows/s, 8,192 tokens/s  ETA 0 ms\n");
}

}  // namespace
}  // namespace torus::tools
