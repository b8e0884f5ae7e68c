// Every flag of every program, in each context: what --help says of it, where it is refused, and
// where it is taken.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "tests/testing/program.h"
#include "tests/tools/flags/walks.h"
#include "tools/common/flag_table.h"

namespace torus::tools::testing {
namespace {

// An option as --help shows it.
struct Entry {
  std::string flag, value;  // the default, if it is shown
  bool takes_value = false, has_default = false;
};

// "--rate FLOAT=1 REQUIRED" and what is said of it.
Entry EntryOf(const std::string& head, const std::string& about) {
  Entry entry;
  entry.flag = head.substr(0, head.find_first_of(" ,{"));
  entry.takes_value = head.find(' ') != head.npos;
  const size_t equals = head.find('=');
  if (equals != head.npos)
    entry.value = head.substr(equals + 1, head.find(' ', equals) - equals - 1);
  entry.has_default = equals != head.npos || head.find("REQUIRED") != head.npos ||
                      about.find("Default") != about.npos;
  return entry;
}

// "-h,--help" is left out, as are positional arguments.
std::map<std::string, Entry> EntriesOf(const std::string& help) {
  std::vector<std::pair<std::string, std::string>> all;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("  --")) {
      const size_t end = line.find("  ", 2);
      all.push_back({line.substr(2, end == line.npos ? end : end - 2), line});
    } else if (!all.empty()) {
      all.back().second += " " + line;
    }
  }
  std::map<std::string, Entry> entries;
  for (const auto& [head, about] : all) {
    const Entry entry = EntryOf(head, about);
    entries[entry.flag] = entry;
  }
  return entries;
}

class FlagWalk : public ::testing::TestWithParam<Walk> {
 protected:
  // Whatever data this machine has, the programs find none.
  void SetUp() override {
    setenv("TORUS_DATA", kNowhere, 1);
    scratch_ = ::testing::TempDir() + GetParam().program;
    std::filesystem::create_directories(scratch_);
    help_ = EntriesOf(Run({"--help"}).out);
  }
  Ended Run(const Words& arguments) const {
    return Program(GetParam().path, arguments, scratch_).Wait();
  }
  // A value of another kind than the default is not looked for.
  std::string ValueOf(const std::string& flag) const {
    const auto own = GetParam().values.find(flag);
    if (own != GetParam().values.end()) return own->second;
    const std::string shown = help_.at(flag).value;
    return shown.empty() ? "2" : shown.starts_with("[") ? "2" : shown;
  }
  std::vector<std::string_view> ContextsOf(const std::string& flag) const {
    const FlagRow* const row = RowOf(GetParam().program, flag);
    return row == nullptr ? std::vector<std::string_view>{} : tools::Words(row->where);
  }
  // Each flag of `words` with its values, but those that `line` has.
  static void AddOptions(const Words& words, Words& line) {
    const auto given = [&](const std::string& word) {
      return std::ranges::find(line, word) != line.end();
    };
    bool skipped = false;
    Words added;
    for (const std::string& word : words) {
      if (word.starts_with("--")) skipped = given(word);
      if (!skipped) added.push_back(word);
    }
    line.insert(line.end(), added.begin(), added.end());
  }
  // The command line with `flag`, where all contexts of its row hold but `missing`.
  std::optional<Words> Line(const std::string& flag, std::string_view missing) const {
    Words line = GetParam().always;
    for (const std::string_view context : ContextsOf(flag)) {
      const Place& place = GetParam().places.at(std::string(context));
      const std::optional<Words>& words = context == missing ? place.elsewhere : place.here;
      if (!words) return std::nullopt;
      AddOptions(*words, line);
    }
    if (std::ranges::count(line, flag) > 0) return line;
    line.push_back(flag);
    if (help_.at(flag).takes_value) line.push_back(ValueOf(flag));
    return line;
  }
  static std::string Joined(const Words& words) {
    std::string all;
    for (const std::string& word : words) all += word + " ";
    return all;
  }

  std::string scratch_;
  std::map<std::string, Entry> help_;
};

TEST_P(FlagWalk, TheTableHasTheFlagsOfHelpAndNoOther) {
  std::set<std::string> of_table, of_help;
  for (const FlagRow& row : FlagTable())
    if (RowOf(GetParam().program, tools::Words(row.flags)[0]) == &row)
      for (const std::string_view flag : tools::Words(row.flags)) of_table.emplace(flag);
  for (const auto& [flag, entry] : help_) of_help.insert(flag);
  EXPECT_EQ(of_table, of_help);
}

TEST_P(FlagWalk, HelpShowsADefaultOfEachOption) {
  EXPECT_FALSE(help_.empty());
  for (const auto& [flag, entry] : help_)
    EXPECT_TRUE(!entry.takes_value || entry.has_default) << flag;
}

TEST_P(FlagWalk, AFlagIsRefusedWhereItDoesNotApply) {
  for (const auto& [flag, entry] : help_)
    for (const std::string_view context : ContextsOf(flag)) {
      const auto line = Line(flag, context);
      if (!line) continue;
      const Ended ended = Run(*line);
      EXPECT_EQ(ended.status, 2) << Joined(*line);
      // The device is looked for before flags are compared.
      if (ended.err.find("this build has no GPUs") != std::string::npos) continue;
      // Another flag of the line may be refused for the same reason.
      const size_t why = ended.err.find(ContextNamed(context).needs);
      const auto refused = [&](const std::string& word) {
        return word.starts_with("--") && ended.err.find(word + " ") < why;
      };
      EXPECT_TRUE(why != std::string::npos && std::ranges::any_of(*line, refused))
          << Joined(*line) << "\n  says " << ended.err;
      EXPECT_EQ(std::ranges::count(ended.err, '\n'), 1) << ended.err;
    }
}

TEST_P(FlagWalk, AFlagIsTakenWhereItApplies) {
  for (const auto& [flag, entry] : help_) {
    const auto contexts = ContextsOf(flag);
    const auto line = contexts.empty() ? std::nullopt : Line(flag, "");
    if (!line) continue;
    const Ended ended = Run(*line);
    for (const std::string_view context : contexts)
      EXPECT_EQ(ended.err.find(ContextNamed(context).needs), std::string::npos)
          << Joined(*line) << "\n  says " << ended.err;
    // As far as what is not there.
    EXPECT_TRUE(ended.status == 0 || ended.err.find("nowhere") != std::string::npos ||
                ended.err.find("GPU") != std::string::npos)
        << Joined(*line) << "\n  says " << ended.err;
  }
}

class FlagPrograms : public ProgramTest {};

// What stands in the table and nobody walks would be held by nothing. Not there are the programs
// without flags, and train_with, whose flags are train's.
TEST_F(FlagPrograms, OfTheTableAreAllWalked) {
  std::set<std::string> of_table, walked;
  for (const FlagRow& row : FlagTable())
    for (const std::string_view program : tools::Words(row.programs)) of_table.emplace(program);
  for (const Walk& walk : Walks()) walked.insert(walk.program);
  EXPECT_EQ(of_table, walked);
}

TEST_F(FlagPrograms, HelpOfAProgramWithoutFlagsMeasuresNothing) {
  const Ended ended = Program("tools/simulate/link_times", {"--help"}, scratch_).Wait();
  EXPECT_EQ(ended.status, 0);
  EXPECT_NE(ended.out.find("Measures emulated links"), std::string::npos) << ended.out;
  for (const char* program : {"tools/simulate/link_times", "tools/labs/build_it_yourself/strip"})
    ExpectOneLine(Program(program, {"--fast", scratch_ + "/new"}, scratch_).Wait(), 2,
                  "unknown flag --fast");
}

// The experiments that train look for data before a plan too.
TEST_F(FlagPrograms, WhatCountsParametersNeedsNoData) {
  setenv("TORUS_DATA", kNowhere, 1);
  const auto run = [&](const std::string& name) {
    return Program("tools/experiments/" + name + "/" + name,
                   {"--dry-run", "--out", scratch_ + "/out"}, scratch_)
        .Wait();
  };
  const Ended counts = run("parameters");
  EXPECT_EQ(counts.status, 0) << counts.err;
  ExpectOneLine(run("sort_quantization"), 2, "--data, or TORUS_DATA, must name a folder");
}

TEST_F(FlagPrograms, AWordThatIsNoFlagOfABenchmarkIsRefused) {
  ExpectOneLine(Program("tools/bench/bench", {"--memorry"}, scratch_).Wait(), 2, "--memorry");
  ExpectOneLine(Program("tools/bench/bench", {"--memory", "yes"}, scratch_).Wait(), 2, "yes");
  ExpectOneLine(Program("tools/bench/bench", {"--collectives", "--ranks", "0"}, scratch_).Wait(), 2,
                "--ranks");
}

INSTANTIATE_TEST_SUITE_P(Programs, FlagWalk, ::testing::ValuesIn(Walks()),
                         [](const auto& walk) { return walk.param.program; });

}  // namespace
}  // namespace torus::tools::testing
