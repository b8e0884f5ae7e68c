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

struct Recorded {
  std::set<std::string> names;
  std::vector<std::string> unread;  // calls whose op cannot be told from the source
};

// The innermost function that ends before `at` in a parameter `op`, if it is a helper Record...:
// then its own calls name the op.
bool IsInHelper(const std::string& text, std::ptrdiff_t at) {
  static const std::regex taking(R"re((\w+)\(\s*std::string_view op\b)re");
  std::string helper;
  for (std::sregex_iterator it(text.begin(), text.begin() + at, taking), end; it != end; ++it)
    helper = (*it)[1];
  return helper.starts_with("Record");
}

// The ops that a source records: Record("x", ...), a helper RecordThat("x", ...), or either with a
// constant of the same source.
void Collect(const std::string& text, Recorded& recorded) {
  static const std::regex call(R"re(\bRecord\w*\(\s*("?)([^",()]+)"?,)re");
  for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it) {
    const std::string name = (*it)[2];
    std::smatch constant;
    if ((*it)[1].length() > 0)
      recorded.names.insert(name);
    else if (std::regex_search(text, constant,
                               std::regex("\\b" + name + R"re(\s*=\s*"([^"]+)")re")))
      recorded.names.insert(constant[1]);
    else if (name != "std::string_view op" && !(name == "op" && IsInHelper(text, it->position())))
      recorded.unread.push_back(it->str());
  }
}

Recorded RecordedIn(const std::string& text) {
  Recorded recorded;
  Collect(text, recorded);
  return recorded;
}

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
  Recorded recorded;
  for (const auto& file : SourceFiles("ops", {".cc", ".h"}))
    Collect(ReadText(SourceRoot() / file), recorded);
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
