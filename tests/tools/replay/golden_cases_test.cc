// Calls of PyTorch's functions that tests/golden/make_op_cases.py made, and steps of small models
// of tools/replay/make_model_cases.py: all pass.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

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

// The script writes the names of its cases into op_cases.txt: none is lost on its way here. Beside
// them lie those of make_layers.py.
TEST(GoldenCases, AreThoseOfTheScript) {
  std::vector<std::string> of_script, here;
  std::ifstream list("tests/golden/op_cases.txt");
  for (std::string name; std::getline(list, name);) of_script.push_back(name);
  EXPECT_FALSE(of_script.empty()) << "the list was not read";
  for (const std::string& path : FindCases({"tests/golden/op_cases"})) {
    const std::string name = std::filesystem::path(path).stem().string();
    if (!name.starts_with("embedding_bag.") && !name.starts_with("optimizer."))
      here.push_back(name);
  }
  std::ranges::sort(here);
  EXPECT_EQ(here, of_script);
}

// An op that the script calls, but not when it was run last, has no case.
TEST(GoldenCases, AreOfEachOpOfTheScript) {
  std::set<std::string> ops;
  for (const std::string& path : FindCases({"tests/golden/op_cases"}))
    ops.insert(std::filesystem::path(path).stem().stem().string());
  std::ifstream script("tests/golden/make_op_cases.py");
  const std::regex made(R"re( *yield "([\w.]+)".*)re");
  int64_t lines = 0;
  for (std::string line; std::getline(script, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, made)) continue;
    ++lines;
    EXPECT_TRUE(ops.contains(match[1])) << "no case of " << match[1];
  }
  EXPECT_GT(lines, 0) << "the script was not read";
}

TEST(GoldenCases, PassOnTheCpu) { ExpectAllPass({}); }

TEST(GoldenCases, PassOnAGpu) {
  if (GpuCount() == 0) GTEST_SKIP() << "needs a GPU, or --config=emulated_gpu";
  ExpectAllPass({DeviceKind::kCuda, 0});
}

}  // namespace
}  // namespace torus::replay
