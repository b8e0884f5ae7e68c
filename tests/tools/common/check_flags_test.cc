#include "tools/common/check_flags.h"

#include <gtest/gtest.h>

#include "runtime/error.h"
#include "tools/common/flag_table.h"

namespace torus::tools {
namespace {

std::string Refusal(const GivenFlags& given, const std::vector<HereOrNot>& contexts) {
  try {
    CheckFlags("generate", given, contexts);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

std::vector<HereOrNot> With(bool sampling) {
  return {{"sampling", sampling, "got 0"}, {"low", false, "got f32"}, {"no-stdin", true, ""}};
}

TEST(CheckFlags, NamesTheFlagWhatItNeedsAndWhatThereIs) {
  EXPECT_EQ(Refusal({{"--prompt", "a"}, {"--top-k", "3"}}, With(false)),
            "[generate] --top-k needs --temperature above 0, got 0");
  EXPECT_EQ(Refusal({{"--top-k", "3"}}, With(true)), "");
}

TEST(CheckFlags, TakesAFlagThatAppliesEverywhere) {
  EXPECT_EQ(Refusal({{"--prompt", "a"}, {"--threads", "2"}}, With(false)), "");
}

// A context that a program forgot would otherwise let flags pass.
TEST(CheckFlags, NoContextMayBeForgotten) {
  EXPECT_THROW(CheckFlags("generate", {{"--top-k", "3"}}, {}), InternalError);
}

TEST(CheckFlags, AValueThatAsksForNothingIsTakenEverywhere) {
  const std::vector<HereOrNot> contexts{{"cut", false, "but there is one rank"}};
  EXPECT_NO_THROW(CheckFlags("train", {{"--codec", "none"}}, contexts));
  EXPECT_THROW(CheckFlags("train", {{"--codec", "f16"}}, contexts), BadInput);
}

TEST(GivenBy, HasFlagsAndTheirValuesAsWritten) {
  double rate = 0;
  bool fast = false;
  std::string file, other;
  CLI::App app("About", "program");
  app.add_option("--rate", rate);
  app.add_flag("--fast", fast);
  app.add_option("--other", other);
  app.add_option("file", file);
  app.parse("--rate 1e-3 --fast in.txt");
  EXPECT_EQ(GivenBy(app), (GivenFlags{{"--rate", "1e-3"}, {"--fast", "true"}}));
}

TEST(FlagTable, NamesOnlyContextsThatThereAreAndEachFlagOnce) {
  for (const FlagRow& row : FlagTable()) {
    for (const std::string_view context : Words(row.where)) EXPECT_NO_THROW(ContextNamed(context));
    for (const std::string_view program : Words(row.programs))
      for (const std::string_view flag : Words(row.flags))
        EXPECT_EQ(RowOf(program, flag), &row) << program << " " << flag << " stands twice";
  }
}

TEST(FlagTable, EveryContextIsOfSomeFlag) {
  for (const FlagContext& context : FlagContexts()) {
    bool used = false;
    for (const FlagRow& row : FlagTable())
      for (const std::string_view name : Words(row.where)) used = used || name == context.name;
    EXPECT_TRUE(used) << context.name;
  }
}

}  // namespace
}  // namespace torus::tools
