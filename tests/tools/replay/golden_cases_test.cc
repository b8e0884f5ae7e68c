// Calls of PyTorch's functions that tests/golden/make_op_cases.py made, and steps of small models
// of tools/replay/make_model_cases.py: all pass.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

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

// Each line of the script that makes a case has made one, or several: none is lost on its way here.
TEST(GoldenCases, AreThoseOfTheScript) {
  std::set<std::string> ops;
  int64_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator("tests/golden/op_cases")) {
    const std::string name = entry.path().filename().string();
    ops.insert(name.substr(0, name.find('.')));
    ++files;
  }
  std::ifstream script("tests/golden/make_op_cases.py");
  const std::regex made(R"re( *yield (?!from)(?:"(\w+)")?.*)re");
  int64_t lines = 0;
  for (std::string line; std::getline(script, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, made)) continue;
    ++lines;
    EXPECT_TRUE(!match[1].matched || ops.contains(match[1])) << "no case of " << match[1];
  }
  EXPECT_GT(lines, 0) << "the script was not read";
  EXPECT_GE(files, lines);
  EXPECT_EQ(std::ssize(FindCases({"tests/golden/op_cases"})), files);
}

TEST(GoldenCases, PassOnTheCpu) { ExpectAllPass({}); }

TEST(GoldenCases, PassOnAGpu) {
  if (GpuCount() == 0) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  ExpectAllPass({DeviceKind::kCuda, 0});
}

}  // namespace
}  // namespace torus::replay
