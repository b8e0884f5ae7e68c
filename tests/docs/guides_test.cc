// The commands of README and guides: their targets are there, and the programs take their flags.
#include "tests/docs/guides.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>

#include "tests/docs/commands.h"
#include "tests/testing/program.h"
#include "tests/testing/source_tree.h"

namespace torus::docs {
namespace {

namespace fs = std::filesystem;
using tools::testing::Ended;
using tools::testing::Program;
using Words = std::vector<std::string>;

struct Runner {
  std::string path;
  Words more = {};  // so that it finds no data, or measures nothing
};

// Programs by what runs them.
const std::map<std::string, Runner>& Runners() {
  static const std::map<std::string, Runner> runners = {
      {"//tools:train", {"tools/train/train"}},
      {"//tools:evaluate", {"tools/evaluate/evaluate"}},
      {"//tools/evaluate", {"tools/evaluate/evaluate"}},
      {"//tools:generate", {"tools/generate/generate"}},
      {"//tools:convert", {"tools/convert/convert"}},
      {"//tools:tokenize", {"tools/tokenize/tokenize"}},
      {"//tools:codec", {"tools/codec/codec"}},
      {"//tools:report", {"tools/report/report"}},
      {"//tools:replay", {"tools/replay/replay_main"}},
      {"//tools:simulate", {"tools/simulate/simulate"}},
      {"//tools:bench", {"tools/bench/bench", {"--benchmark_list_tests=true"}}},
      {"//tools/simulate:link_times", {"tools/simulate/link_times"}},
      {"//tools/train:measure_blocks", {"tools/train/measure_blocks"}},
      {"//tools/labs:grade", {"tools/labs/build_it_yourself/grade"}},
      {"//tools/labs:grade_all", {"tools/labs/build_it_yourself/grade_all"}},
      {"//tools/labs:train_with", {"tools/labs/train_with/train_with"}},
  };
  return runners;
}

// Commands that another test runs, by how they begin.
const std::map<std::string, std::string>& RunElsewhere() {
  static const std::map<std::string, std::string> where = {
      {"//tools/experiments:NAME", "tests/tools/experiments"},  // each of them
      {"//tools/labs:q1", "tests/tools/labs"},
      {"//tools/labs:strip", "tests/tools/labs"},
      {"//docs:api", "tests/docs/doxygen_test.cc"},
      {"//tools:install", "tests/tools/install"},
      {"//tools/bench:ledger", "tests/tools/ledger"},  // emulated GPUs need a build of their own
  };
  return where;
}

struct Place {
  std::string page;
  Command command;
};

std::vector<Place> AllCommands() {
  std::vector<Place> all;
  for (const auto& [page, text] : Guides())
    for (const Command& command : CommandsOf(text))
      all.push_back({page + ":" + std::to_string(command.line), command});
  return all;
}

// "//a:b", "//a/b", "//a/...": the folder has a BUILD that speaks of it.
bool TargetIsThere(const std::string& target) {
  const fs::path root = testing::SourceRoot();
  const size_t colon = target.find(':');
  const std::string folder = target.substr(2, colon - 2);
  if (folder.ends_with("...")) return fs::is_directory(root / folder.substr(0, folder.size() - 3));
  if (!fs::exists(root / folder / "BUILD")) return false;
  const std::string name =
      colon == target.npos ? fs::path(folder).filename().string() : target.substr(colon + 1);
  return testing::ReadText(root / folder / "BUILD").find('"' + name + '"') != std::string::npos ||
         fs::exists(root / folder / (name + ".cc"));
}

bool ConfigurationIsThere(const std::string& name) {
  const std::string all = testing::ReadText(testing::SourceRoot() / ".bazelrc");
  return all.find("build:" + name + ' ') != all.npos;
}

TEST(Guides, TargetsOfCommandsAreThere) {
  const std::vector<Place> all = AllCommands();
  ASSERT_GT(all.size(), 60u);
  for (const auto& [page, command] : all) {
    EXPECT_TRUE(std::set<std::string>({"run", "build", "test", "help"}).contains(command.verb))
        << page << " has verb " << command.verb;
    for (const std::string& target : command.targets)
      EXPECT_TRUE(!target.starts_with("//") || RunElsewhere().contains(target) ||
                  Unrun().contains(target) || TargetIsThere(target))
          << page << " has " << target;
    for (const std::string& flag : command.flags)
      EXPECT_TRUE(!flag.starts_with("--config=") || ConfigurationIsThere(flag.substr(9)))
          << page << " has " << flag;
  }
}

bool IsNotRun(const Command& command) {
  const auto begins = [&](const auto& entry) { return Shown(command).starts_with(entry.first); };
  return std::ranges::any_of(RunElsewhere(), begins) || std::ranges::any_of(Unrun(), begins);
}

// Measures for minutes: its flags are compared with those that its help lists.
bool IsDear(const Command& command) {
  return command.targets[0] == "//tools/simulate:link_times" ||
         command.targets[0] == "//tools/train:measure_blocks" ||
         std::ranges::count(command.arguments, "--memory") > 0;
}

// Letters and brackets of a command that stands for many, by one that it stands for.
std::string Chosen(std::string word) {
  static const std::map<std::string, std::string> values = {
      {"S", "1"}, {"C", "none"}, {"X", "0.1"}};
  if (word.starts_with('[') && word.ends_with(']')) word = word.substr(1, word.size() - 2);
  return values.contains(word) ? values.at(word) : word;
}

// A train without data would take those of the machine, and would train.
Words ArgumentsOf(const Command& command) {
  Words arguments = command.arguments;
  for (std::string& word : arguments) word = Chosen(word);
  const auto has = [&](const char* flag) { return std::ranges::count(arguments, flag) > 0; };
  const std::string target = command.targets[0];
  if (target == "//tools:train" && !has("--describe") && !has("--help") && !has("--data-dir"))
    arguments.insert(arguments.end(), {"--data-dir", "nowhere"});
  const Words& more = Runners().at(target).more;
  if (has("--collectives"))
    arguments.insert(arguments.end(),
                     {"--ranks", "2", "--bytes", "8", "--rounds", "1", "--case", "none of them"});
  else
    arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// What is said when a file, data or a GPU is not there: then the flags were taken.
bool NothingThere(const std::string& says) {
  static const std::regex words(
      "nowhere|no such (file|folder)|is no folder|does not exist|cannot (read|open)|is not "
      "there|no file|not found|"
      "cannot find|got none|there is no|no GPU|without GPU",
      std::regex::icase);
  return std::regex_search(says, words);
}

TEST(Guides, ProgramsTakeTheFlagsOfCommands) {
  setenv("TORUS_DATA", "/nowhere/at/all", 1);
  const fs::path scratch = fs::path(::testing::TempDir()) / "guides";
  fs::create_directories(scratch);
  setenv("TORUS_WORKING_DIRECTORY", scratch.c_str(), 1);
  int ran = 0;
  for (const auto& [page, command] : AllCommands()) {
    if (command.verb != "run" || IsNotRun(command)) continue;
    ASSERT_EQ(command.targets.size(), 1u) << page;
    if (!Runners().contains(command.targets[0])) {
      ADD_FAILURE() << page << " runs " << command.targets[0] << ", which is in no list here";
      continue;
    }
    const std::string& path = Runners().at(command.targets[0]).path;
    ++ran;
    if (IsDear(command)) {
      for (const std::string& flag : FlagsNotInHelp(path, command.arguments, scratch))
        ADD_FAILURE() << page << ": " << path << " --help does not list " << flag;
      continue;
    }
    const Ended ended = Program(path, ArgumentsOf(command), scratch).Wait();
    EXPECT_TRUE(ended.status == 0 || NothingThere(ended.err))
        << page << ": " << Shown(command) << "\n  status " << ended.status << ": " << ended.err;
  }
  EXPECT_GT(ran, 40);
}

// What is listed as not run here stands in a guide; the other tests are there.
TEST(Guides, WhatIsNotRunIsThere) {
  const std::vector<Place> all = AllCommands();
  for (const auto& list : {RunElsewhere(), Unrun()})
    for (const auto& [start, why] : list)
      EXPECT_TRUE(std::ranges::any_of(all, [&](const Place& place) {
        return Shown(place.command).starts_with(start);
      })) << start;
  for (const auto& [start, where] : RunElsewhere())
    EXPECT_TRUE(fs::exists(testing::SourceRoot() / where)) << where;
}

}  // namespace
}  // namespace torus::docs
