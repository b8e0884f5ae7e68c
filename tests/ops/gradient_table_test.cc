// The gradient table is complete: every op that ops/ records has a GRADIENT_CASE, or stands here
// with the reason why it needs none.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>

#include "tests/ops/recorded_ops.h"
#include "tests/testing/source_tree.h"

namespace torus::testing {
namespace {

const std::map<std::string, std::string> kExempt = {
    {"conv_chain",
     "recorded for f32 alone, in f64 it is composed of conv2d and batch_norm; conv_chain_test "
     "holds the fused "
     "gradients against the composed ones"},
    {"lstm",
     "recorded for f32 alone, in f64 it is composed of linear and lstm_cell; lstm_test holds the "
     "fused gradients against the composed ones"},
    {"copy_to_ranks", "its gradient is a sum over ranks: tensor_parallel_test holds it"},
    {"sum_over_ranks", "as copy_to_ranks"},
    {"cross_entropy_of_part",
     "its loss is of all ranks' logits: tensor_parallel_test holds their gradients against "
     "cross_entropy's"},
};

std::set<std::string> CheckedOps() {
  static const std::regex checked(R"re(GRADIENT_CASE\(\s*(\w+))re");
  std::set<std::string> names;
  for (const auto& file : SourceFiles("tests", {".cc"})) {
    const std::string text = ReadText(SourceRoot() / file);
    for (std::sregex_iterator it(text.begin(), text.end(), checked), end; it != end; ++it)
      names.insert((*it)[1]);
  }
  return names;
}

TEST(GradientTable, EveryRecordedOpHasACase) {
  const Recorded recorded = RecordedOps();
  const auto checked = CheckedOps();
  ASSERT_FALSE(recorded.names.empty());
  for (const std::string& call : recorded.unread)
    ADD_FAILURE() << call << " does not say in this source which op it records";
  for (const std::string& op : recorded.names)
    EXPECT_TRUE(checked.contains(op) || kExempt.contains(op)) << op << " has no gradient case";
  for (const auto& [op, reason] : kExempt) EXPECT_FALSE(reason.empty()) << op;
}

TEST(GradientTable, ReadsConstantsAndHelpers) {
  using Names = std::set<std::string>;
  EXPECT_EQ(RecordedIn("return Record(\n    \"mul\", out, in, rule);").names, Names{"mul"});
  EXPECT_EQ(RecordedIn("constexpr const char* kOp = \"pool\"; Record(kOp, out);").names,
            Names{"pool"});
  const Recorded helper = RecordedIn(
      "Variable RecordRows(std::string_view op, T x) { return Record(op, x); }"
      "Variable Exp(T x) { return RecordRows(\"exp\", x); }");
  EXPECT_EQ(helper.names, Names{"exp"});
  EXPECT_TRUE(helper.unread.empty());
}

TEST(GradientTable, NoCallPassesUnread) {
  EXPECT_EQ(RecordedIn("Record(kElsewhere, out);").unread.size(), 1u);
  EXPECT_EQ(RecordedIn("T Unary(std::string_view op, T x) { Record(op, x); }").unread.size(), 1u);
  EXPECT_EQ(RecordedIn("RecordMany(name, outs);").unread.size(), 1u);
}

}  // namespace
}  // namespace torus::testing
