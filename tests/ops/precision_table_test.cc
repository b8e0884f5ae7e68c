// The table of precisions is complete: every op that ops/ records stands in it, every op whose
// types it may change asks it, and it has nothing else.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "ops/precision/policy.h"
#include "runtime/error.h"
#include "tests/ops/recorded_ops.h"

namespace torus::testing {
namespace {

using ops::Policy;
using ops::PolicyOf;

bool IsUntouched(const std::string& op) {
  const Policy policy = PolicyOf(op);
  return policy == Policy::kAny || policy == Policy::kComposed;
}

// Ops whose sources call InPrecision by their name, by a constant of the same source, or by a
// helper Record...("x", ...) that does so for them.
std::set<std::string> AskingOps() {
  static const std::regex call(R"re(\bInPrecision\(\s*("?)(\w+)"?,)re");
  static const std::regex helped(R"re(\bRecord(?:Map|Pool|Rows)\(\s*"(\w+)",)re");
  std::set<std::string> names;
  for (const auto& file : SourceFiles("ops", {".cc", ".h"})) {
    const std::string text = ReadText(SourceRoot() / file);
    for (std::sregex_iterator it(text.begin(), text.end(), call), end; it != end; ++it) {
      const std::string name = (*it)[2];
      std::smatch constant;
      if ((*it)[1].length() > 0)
        names.insert(name);
      else if (std::regex_search(text, constant,
                                 std::regex("\\b" + name + R"re(\s*=\s*"([^"]+)")re")))
        names.insert(constant[1]);
    }
    for (std::sregex_iterator it(text.begin(), text.end(), helped), end; it != end; ++it)
      names.insert((*it)[1]);
    if (text.find(" = ToWidest(") != text.npos) names.insert("cat");
  }
  return names;
}

// The names in the table, read from its source.
std::set<std::string> Entries() {
  static const std::regex entry(R"re(\{"(\w+)", Policy::k\w+\})re");
  const std::string text = ReadText(SourceRoot() / "ops/precision/policy.cc");
  std::set<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), entry), end; it != end; ++it)
    names.insert((*it)[1]);
  return names;
}

TEST(PrecisionTable, HasEveryRecordedOpAndNoOther) {
  const std::set<std::string> recorded = RecordedOps().names, entries = Entries();
  ASSERT_FALSE(recorded.empty());
  for (const std::string& op : recorded) EXPECT_TRUE(entries.contains(op)) << op << " has no entry";
  for (const std::string& op : entries) EXPECT_TRUE(recorded.contains(op)) << op << " is no op";
}

TEST(PrecisionTable, IsAskedByEveryOpWhoseTypesItMayChange) {
  const std::set<std::string> asking = AskingOps();
  for (const std::string& op : Entries()) EXPECT_EQ(asking.contains(op), !IsUntouched(op)) << op;
}

TEST(PrecisionTable, RefusesAnOpThatItDoesNotHave) {
  EXPECT_THROW(PolicyOf("no_such_op"), BadInput);
}

}  // namespace
}  // namespace torus::testing
