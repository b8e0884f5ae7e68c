#include "tools/labs/build_it_yourself/grader/run_command.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "runtime/error.h"

namespace torus::tools::labs {
namespace {

TEST(RunCommand, TakesWhatIsPrintedAndTheStatus) {
  const CommandEnd good = RunCommand({.words = {"sh", "-c", "echo out; echo err >&2"}});
  EXPECT_TRUE(good.ok);
  EXPECT_EQ(good.printed, "out\nerr\n");
  EXPECT_FALSE(RunCommand({.words = {"false"}}).ok);
  EXPECT_THROW(RunCommand({.words = {"no-such-program"}}), BrokenEnvironment);
}

// A terminal that nobody types into.
TEST(RunCommand, GivesNoInput) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const int own = dup(STDIN_FILENO);
  dup2(pipes[0], STDIN_FILENO);
  const CommandEnd end = RunCommand({.words = {"cat"}, .deadline = 60});
  dup2(own, STDIN_FILENO);
  for (const int file : {own, pipes[0], pipes[1]}) close(file);
  EXPECT_TRUE(end.ok) << end.printed;
}

TEST(RunCommand, EndsWhatTakesTooLongWithAllThatItStarted) {
  const CommandEnd end =
      RunCommand({.words = {"sh", "-c", "echo begun; sleep 3600 & sleep 3600"}, .deadline = 0.5});
  EXPECT_FALSE(end.ok);
  EXPECT_EQ(end.printed, "begun\nsh was ended after 0.5 s\n");
}

TEST(RunCommand, KeepsABoundedPartOfWhatIsPrinted) {
  const CommandEnd end = RunCommand({.words = {"sh", "-c", "yes | head -c 3000000"}});
  EXPECT_TRUE(end.ok);
  EXPECT_EQ(end.printed.size(), size_t{1} << 20);
}

}  // namespace
}  // namespace torus::tools::labs
