// The gradient table is complete: every op that ops/ records has a GRADIENT_CASE, or stands here
// with the reason why it needs none.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/testing/source_tree.h"

namespace torus::testing {
namespace {

const std::map<std::string, std::string> kExempt = {
    {"conv_chain",
     "recorded for f32 alone, in f64 it is composed of conv2d and batch_norm; conv_chain_test "
     "holds the fused "
     "gradients against the composed ones"},
};

std::set<std::string> Names(const std::string& folder, const std::regex& pattern) {
  std::set<std::string> names;
  for (const auto& file : SourceFiles(folder, {".cc"})) {
    const std::string text = ReadText(SourceRoot() / file);
    for (std::sregex_iterator it(text.begin(), text.end(), pattern), end; it != end; ++it)
      names.insert((*it)[1]);
  }
  return names;
}

TEST(GradientTable, EveryRecordedOpHasACase) {
  const auto recorded = Names("ops", std::regex(R"re(Record\w*\(\s*"([^"]+)")re"));
  const auto checked = Names("tests", std::regex(R"re(GRADIENT_CASE\(\s*(\w+))re"));
  ASSERT_FALSE(recorded.empty());
  for (const std::string& op : recorded)
    EXPECT_TRUE(checked.contains(op) || kExempt.contains(op)) << op << " has no gradient case";
  for (const auto& [op, reason] : kExempt) EXPECT_FALSE(reason.empty()) << op;
}

}  // namespace
}  // namespace torus::testing
