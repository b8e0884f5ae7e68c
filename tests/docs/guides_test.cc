// The commands of README and guides: their targets are there, and the programs take their flags.
#include <gtest/gtest.h>

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
      {"//tools/labs:grade", {"tools/labs/build_it_yourself/grade"}},
      {"//tools/labs:grade_all", {"tools/labs/build_it_yourself/grade_all"}},
      {"//tools/labs:train_with", {"tools/labs/train_with/train_with"}},
  };
  return runners;
}

// Commands that are not run here, by how they begin, and why.
const std::map<std::string, std::string>& NotRun() {
  static const std::map<std::string, std::string> why = {
      {"//tools/experiments:NAME", "stands for many; tests/tools/experiments runs each"},
      {"//ops:NAME/cuda", "stands for each family"},
      {"//tests:cuda_suite", "needs a build for GPUs"},
      {"//tools/train:measure_blocks", "measures for minutes; tests/tools/flags has its flags"},
      {"//tools:train --seed S", "letters stand for values"},
      {"//tools/simulate:link_times", "measures for minutes, and has no flags"},
      {"//tools/labs:q1", "tests/tools/labs runs each question"},
      {"//tools/labs:strip", "copies the source tree; tests/tools/labs runs it"},
      {"//docs:api", "needs Doxygen; tests/docs/doxygen_test runs it"},
      {"//tools:install", "builds the library; tests/tools/install installs it"},
      {"//tools:bench --memory", "measures for minutes"},
      {"//tools/bench:ledger", "needs a build for emulated GPUs; tests/tools/ledger counts steps"},
  };
  return why;
}

std::string Shown(const Command& command) {
  std::string all;
  for (const Words* words : {&command.targets, &command.arguments})
    for (const std::string& word : *words) all += (all.empty() ? "" : " ") + word;
  return all;
}

struct Place {
  std::string page;
  Command command;
};

std::vector<Place> AllCommands() {
  const fs::path root = testing::SourceRoot();
  std::vector<fs::path> pages = testing::SourceFiles("docs", {".md"});
  pages.insert(pages.end(), {"README.md", "CONTRIBUTING.md"});
  std::vector<Place> all;
  for (const fs::path& page : pages)
    for (const Command& command : CommandsOf(testing::ReadText(root / page)))
      all.push_back({page.string() + ":" + std::to_string(command.line), command});
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

TEST(Guides, TargetsOfCommandsAreThere) {
  const std::vector<Place> all = AllCommands();
  ASSERT_GT(all.size(), 60u);
  for (const auto& [page, command] : all) {
    EXPECT_TRUE(std::set<std::string>({"run", "build", "test", "help"}).contains(command.verb))
        << page << " has verb " << command.verb;
    for (const std::string& target : command.targets)
      EXPECT_TRUE(!target.starts_with("//") || NotRun().contains(target) || TargetIsThere(target))
          << page << " has " << target;
  }
}

bool IsNotRun(const Command& command) {
  return std::ranges::any_of(
      NotRun(), [&](const auto& entry) { return Shown(command).starts_with(entry.first); });
}

// A train without data would take those of the machine, and would train.
Words ArgumentsOf(const Command& command) {
  Words arguments = command.arguments;
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
    const Ended ended = Program(path, ArgumentsOf(command), scratch).Wait();
    EXPECT_TRUE(ended.status == 0 || NothingThere(ended.err))
        << page << ": " << Shown(command) << "\n  status " << ended.status << ": " << ended.err;
    ++ran;
  }
  EXPECT_GT(ran, 40);
}

// What is listed as not run stands in a guide.
TEST(Guides, WhatIsNotRunIsThere) {
  const std::vector<Place> all = AllCommands();
  for (const auto& [start, why] : NotRun())
    EXPECT_TRUE(std::ranges::any_of(all, [&](const Place& place) {
      return Shown(place.command).starts_with(start);
    })) << start;
}

}  // namespace
}  // namespace torus::docs
