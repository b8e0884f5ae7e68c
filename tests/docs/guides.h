// The pages whose commands and blocks are tested, and which of them no test runs.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/testing/program.h"
#include "tests/testing/source_tree.h"

namespace torus::docs {

// README, CONTRIBUTING and docs/*.md: name and text of each.
inline std::map<std::string, std::string> Guides() {
  std::vector<std::filesystem::path> pages = testing::SourceFiles("docs", {".md"});
  pages.insert(pages.end(), {"README.md", "CONTRIBUTING.md"});
  std::map<std::string, std::string> guides;
  for (const std::filesystem::path& page : pages)
    guides[page.string()] = testing::ReadText(testing::SourceRoot() / page);
  return guides;
}

// Commands of ./bazelw that no test runs or parses, by their target, and why. Blocks have a mark.
inline const std::map<std::string, std::string>& Unrun() {
  static const std::map<std::string, std::string> why = {
      {"//ops:NAME/cuda", "needs nvcc"},
      {"//tests:cuda_suite", "needs a build for emulated GPUs"},
  };
  return why;
}

// Flags among the arguments that the program's help, which it must have, does not list.
inline std::set<std::string> FlagsNotInHelp(const std::string& program,
                                            const std::vector<std::string>& arguments,
                                            const std::string& scratch) {
  const tools::testing::Ended help = tools::testing::Program(program, {"--help"}, scratch).Wait();
  EXPECT_EQ(help.status, 0) << program << " --help: " << help.err;
  std::set<std::string> unknown;
  for (const std::string& word : arguments) {
    const std::string flag = word.substr(0, word.find('='));
    if (flag.starts_with("--") && !std::regex_search(help.out, std::regex(flag + "[^a-z0-9_-]")))
      unknown.insert(flag);
  }
  return unknown;
}

}  // namespace torus::docs
