#include "tools/common/run_main.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "runtime/error.h"
#include "tools/common/lines_below.h"

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

// A file's name may have any of them.
TEST(RunMain, AMessageIsOneLineWhateverItNames) {
  const auto said = [](const auto& body) {
    testing::internal::CaptureStderr();
    RunMain("program", body);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said([]() -> int { Throw<BadInput>("/a\nb", "is no folder but {}", "\x1b[2J"); }),
            "program: [/a\\nb] is no folder but \\x1b[2J\n");
  EXPECT_EQ(said([] {
              fs::directory_iterator("/nowhere\nat all");
              return 0;
            }),
            "program: [/nowhere\\nat all] cannot be reached: No such file or directory\n");
  EXPECT_EQ(said([]() -> int {
              throw ErrorWithLines<BadInput>("[ring] a.cc does not compile:", "a.cc:1\na.cc:2\n");
            }),
            "program: [ring] a.cc does not compile:\na.cc:1\na.cc:2\n");
}

// What the body sees, and so CUDA, which no program can use before.
std::string ConnectionsInBody() {
  std::string connections;
  RunMain("program", [&] {
    if (const char* const set = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS")) connections = set;
    return 0;
  });
  return connections;
}

TEST(RunMain, StreamsHaveTheConnectionsThatNcclNeedsUnlessTheUserSaysOtherwise) {
  unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
  EXPECT_EQ(ConnectionsInBody(), "32");
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "8", 1);
  EXPECT_EQ(ConnectionsInBody(), "8");
  unsetenv("CUDA_DEVICE_MAX_CONNECTIONS");
}

}  // namespace
}  // namespace torus::tools
