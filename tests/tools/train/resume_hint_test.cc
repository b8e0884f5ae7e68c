#include "tools/train/resume_hint.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace torus::tools {
namespace {

class ResumeHint : public ::testing::Test {
 protected:
  void SetUp() override {
    unsetenv("TORUS_STARTED_AS");
    unsetenv("OMPI_COMM_WORLD_SIZE");
  }
  void TearDown() override { SetUp(); }
};

TEST_F(ResumeHint, IsTheProgramThatRan) {
  EXPECT_EQ(ResumeCommand("bazel-bin/tools/train/train", "/runs/a"),
            "bazel-bin/tools/train/train --resume /runs/a");
}

TEST_F(ResumeHint, HasTheProcessesOfMpirun) {
  setenv("OMPI_COMM_WORLD_SIZE", "4", 1);
  EXPECT_EQ(ResumeCommand("./train", "/runs/a"), "mpirun -n 4 ./train --resume /runs/a");
}

TEST_F(ResumeHint, HasTheConfigurationOfBazelw) {
  setenv("TORUS_STARTED_AS", "./bazelw run --config=cuda //tools:train --", 1);
  EXPECT_EQ(ResumeCommand("/cache/train", "/runs/a"),
            "./bazelw run --config=cuda //tools:train -- --resume /runs/a");
}

TEST_F(ResumeHint, QuotesForAShell) {
  EXPECT_EQ(ResumeCommand("./train", "/my runs/a$b"), "./train --resume '/my runs/a$b'");
  EXPECT_EQ(ResumeCommand("./train", "/it's"), "./train --resume '/it'\\''s'");
}

}  // namespace
}  // namespace torus::tools
