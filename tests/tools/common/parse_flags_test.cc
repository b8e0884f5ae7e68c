#include "tools/common/parse_flags.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "runtime/error.h"

namespace torus::tools {
namespace {

struct Values {
  uint64_t seed = 1;
  int64_t count = 1;
  double rate = 1;
  std::vector<uint64_t> sizes;
};

// The message that `arguments` are refused with; empty where they are taken, into `values`.
std::string Refusal(std::vector<const char*> arguments, Values& values) {
  CLI::App app("About", "program");
  app.add_option("--seed", values.seed);
  app.add_option("--count", values.count);
  app.add_option("--rate", values.rate)->check(CLI::Range(0.0, 1e6));
  std::string kind;
  app.add_option("--kind", kind)->check(CLI::IsMember({"gas", "goods"}));
  app.add_option("--sizes", values.sizes)->delimiter(',')->transform(CLI::AsSizeValue(false));
  arguments.insert(arguments.begin(), "program");
  try {
    ParseFlags(app, static_cast<int>(arguments.size()), arguments.data());
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

std::string Refusal(std::vector<const char*> arguments) {
  Values values;
  return Refusal(std::move(arguments), values);
}

TEST(ParseFlags, TakesNumbersAsTheyAreWritten) {
  Values values;
  EXPECT_EQ(Refusal({"--seed", "18446744073709551615", "--count", "-9", "--rate", "1e-3", "--sizes",
                     "2KB,0,7"},
                    values),
            "");
  EXPECT_EQ(values.seed, UINT64_MAX);
  EXPECT_EQ(values.count, -9);
  EXPECT_EQ(values.rate, 1e-3);
  EXPECT_EQ(values.sizes, (std::vector<uint64_t>{2048, 0, 7}));
}

TEST(ParseFlags, RefusesANumberThatWouldBeTakenForAnother) {
  for (const char* seed : {"-1", "18446744073709551616", "010", "0x10", ""})
    EXPECT_EQ(Refusal({"--seed", seed}),
              fmt::format("[program] --seed must be a whole number from 0 to 2^64 - 1 in decimal "
                          "digits, got \"{}\"",
                          seed));
  for (const char* count : {"9223372036854775808", "010", "-010", ""})
    EXPECT_EQ(Refusal({"--count", count}),
              fmt::format("[program] --count must be a whole number below 2^63 in decimal digits, "
                          "got \"{}\"",
                          count));
  for (const char* rate : {"nan", "-NaN"})
    EXPECT_EQ(Refusal({"--rate", rate}),
              fmt::format("[program] --rate must be a number, got \"{}\"", rate));
}

TEST(ParseFlags, SaysOfWhatThereIsTooMuch) {
  EXPECT_EQ(Refusal({"--rate", "1", "--rate", "2"}),
            "[program] --rate takes one value, got 2 (--help lists the flags)");
}

TEST(ParseFlags, NamesTheFlagThatIsNotKnownAndTheOneThatWasMeant) {
  EXPECT_EQ(Refusal({"--sede", "1"}),
            "[program] unknown flag --sede; did you mean --seed? (--help lists the flags)");
  EXPECT_EQ(Refusal({"--size=1"}),
            "[program] unknown flag --size; did you mean --sizes? (--help lists the flags)");
  EXPECT_EQ(Refusal({"--nothing-like-it", "1"}),
            "[program] unknown flag --nothing-like-it (--help lists the flags)");
  EXPECT_EQ(Refusal({"--kind", "gos"}),
            "[program] --kind must be one of gas, goods, got gos; did you mean gas or goods? "
            "(--help lists the flags)");
  EXPECT_EQ(Refusal({"word"}), "[program] unexpected argument word (--help lists the flags)");
}

std::string HelpOf(const char* name, const char* flag, const char* about) {
  int value = 7;
  std::vector<int> list;
  CLI::App app("About", name);
  app.add_option(flag, value, about);
  app.add_option("--list", list, "Some. Default: none");
  const std::vector<const char*> arguments{name, flag, "8", "--help"};
  return ParseFlags(app, static_cast<int>(arguments.size()), arguments.data());
}

TEST(ParseFlags, HelpShowsEveryDefaultThatHasNoWords) {
  EXPECT_NE(HelpOf("program", "--count", "How many").find("--count INT=7"), std::string::npos);
  EXPECT_EQ(HelpOf("program", "--count", "How many. Default: enough").find("=7"),
            std::string::npos);
}

TEST(ParseFlags, HelpShowsWhereAFlagApplies) {
  EXPECT_NE(
      HelpOf("generate", "--top-k", "How many").find("How many (needs --temperature above 0)"),
      std::string::npos);
}

TEST(ParseFlags, SaysWhatAValueMustBe) {
  EXPECT_EQ(
      Refusal({"--rate", "fast"}),
      "[program] --rate must be a number from 0 to 1000000, got fast (--help lists the flags)");
  EXPECT_EQ(Refusal({"--count", "many"}),
            "[program] --count must be a whole number, got many (--help lists the flags)");
  EXPECT_EQ(Refusal({"--rate", "-1"}),
            "[program] --rate must be a number from 0 to 1000000, got -1 (--help lists the flags)");
}

}  // namespace
}  // namespace torus::tools
