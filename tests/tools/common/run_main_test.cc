#include "tools/common/run_main.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace torus::tools {
namespace {

namespace fs = std::filesystem;

// In a process of its own, whose output goes to a full disk.
[[noreturn]] void WriteToFullDisk() {
  if (std::freopen("/dev/full", "w", stdout) == nullptr) std::exit(77);
  std::exit(RunMain("program", [] {
    fmt::print("short enough to wait in the buffer\n");
    return 0;
  }));
}

TEST(RunMain, OutputThatDoesNotFitOnTheDiskIsAFailure) {
  EXPECT_EXIT(WriteToFullDisk(), testing::ExitedWithCode(1),
              "^program: cannot write all of its output: No space left on device\n$");
}

TEST(RunMain, AFailureOfTheFileSystemNamesThePathAndTheReason) {
  testing::internal::CaptureStderr();
  const int status = RunMain("program", [] {
    fs::directory_iterator("/nowhere/at/all");
    return 0;
  });
  EXPECT_EQ(status, 1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "program: [/nowhere/at/all] cannot be reached: No such file or directory\n");
}

}  // namespace
}  // namespace torus::tools
