// Every block of README and guides is run, or its flags are read by the program itself, or a mark
// above it says what it is and which test holds it:
//   <!-- as in FILE -->      its lines stand in a source of the tree
//   <!-- held by FILE -->    that test reads the page and does what the block shows
//   <!-- figure -->          a drawing, or what a program printed once: nothing to type
//   <!-- unrun: REASON -->   nobody runs it here
// Commands of ./bazelw have no mark: guides_test runs them. Nor have scripts of bash, of which the
// syntax is read, and settings of TORUS_..., whose names must stand in a source.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <regex>
#include <string>
#include <vector>

#include "tests/docs/blocks.h"
#include "tests/docs/commands.h"
#include "tests/docs/guides.h"

namespace torus::docs {
namespace {

namespace fs = std::filesystem;
using testing::SourceRoot;
using tools::testing::Ended;
using tools::testing::Program;
using Words = std::vector<std::string>;

// A folder that tests/pack_cuda_suite makes, and where it takes the scripts in it from.
std::string InTheTree(const std::string& word) {
  if (word == "FOLDER/compute_sanitizer.sh") return "tests/compute_sanitizer.sh";
  if (word == "FOLDER/pytorch_cuda.py") return "tools/bench/pytorch_cuda.py";
  return word;
}

// Whether a line of a block is a command that can be tried here, or a setting for one.
bool IsCommand(const std::string& line) {
  const Words words = ShellWords(line);
  if (words.empty()) return false;
  if (words[0] == "python") return InTheTree(words[1]).starts_with("tools/");
  if (words[0] == "cp") return words[1].starts_with("tools/");
  if (words[0] == "export") return words[1].starts_with("TORUS_");
  return words[0] == "./bazelw" || words[0] == "mpirun" || words[0].starts_with(".ci/") ||
         InTheTree(words[0]).ends_with(".sh");
}

class Marks : public ::testing::Test {
 protected:
  void SetUp() override {
    scratch_ = (fs::path(::testing::TempDir()) / "marks").string();
    fs::create_directories(scratch_);
    setenv("TORUS_DATA", "/nowhere/at/all", 1);
    setenv("TORUS_WORKING_DIRECTORY", scratch_.c_str(), 1);
    // Root may, this machine alone, and more ranks than cores.
    for (const char* name : {"OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM",
                             "OMPI_MCA_rmaps_base_oversubscribe"})
      setenv(name, "1", 1);
    setenv("OMPI_MCA_btl", "self,vader", 1);
    setenv("OMPI_MCA_plm", "isolated", 1);
    setenv("TMPDIR", "/tmp", 1);  // mpirun's sockets' names must be short
  }

  // What is wrong with a command; "" for nothing.
  std::string Try(const std::string& line) {
    const Words words = ShellWords(line);
    if (words[0] == "python") return TryScript(words);
    if (words[0] == "mpirun") return TryMpirun(words);
    if (words[0] == "cp") return fs::exists(SourceRoot() / words[1]) ? "" : "no such file";
    if (words[0] == "export") return TryVariable(words[1].substr(0, words[1].find('=')));
    if (words[0] == "./bazelw") return "";  // guides_test runs it
    const std::string script = (SourceRoot() / InTheTree(words[0])).string();
    return Run("/bin/bash", {"-n", script}).status == 0 ? "" : "no script of bash";
  }

  std::string untried_;  // lines that this machine has no program for

 private:
  Ended Run(const std::string& program, const Words& arguments) const {
    return Program(program, arguments, scratch_).Wait();
  }

  // By the script's own argparse, behind which it ends.
  std::string TryScript(Words words) const {
    static const std::string parse =
        "import argparse, os, runpy, sys\n"
        "from unittest import mock\n"
        "sys.modules['torch'] = mock.MagicMock()\n"  // which need not be installed
        "own = argparse.ArgumentParser.parse_args\n"
        "def parse_args(self, *more):\n"
        "    own(self, *more)\n"
        "    print('parsed')\n"
        "    sys.exit(0)\n"
        "argparse.ArgumentParser.parse_args = parse_args\n"
        "sys.argv = sys.argv[1:]\n"
        "sys.dont_write_bytecode = True\n"
        "sys.path.insert(0, os.path.dirname(sys.argv[0]))\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n";
    for (std::string& word : words)  // [--what may be left out]
      if (word.starts_with('[') && word.ends_with(']')) word = word.substr(1, word.size() - 2);
    Words arguments = {"python3", "-c", parse, (SourceRoot() / InTheTree(words[1])).string()};
    arguments.insert(arguments.end(), words.begin() + 2, words.end());
    const Ended ended = Run("/usr/bin/env", arguments);
    return ended.out.find("parsed") == ended.out.npos ? ended.err : "";
  }

  static std::string TryVariable(const std::string& name) {
    for (const char* const folder : {"recipes", "runtime", "tools"})
      for (const fs::path& source : testing::SourceFiles(folder, {".cc", ".h", ".py", ".sh"}))
        if (testing::ReadText(SourceRoot() / source).find('"' + name + '"') != std::string::npos)
          return "";
    return "no source has " + name;
  }

  // A program of the tree takes its flags, by trying or by its help; else mpirun takes its own.
  std::string TryMpirun(const Words& words) {
    const auto program = std::ranges::find_if(
        words, [](const std::string& word) { return word.starts_with("bazel-bin/"); });
    if (program == words.end()) {
      Words arguments = words;
      std::ranges::replace(arguments, "PROGRAM", "true");
      if (Run("/usr/bin/env", {"mpirun", "--version"}).status != 0) {
        for (const std::string& word : words) untried_ += word + ' ';
        untried_ += '\n';
        return "";
      }
      // It has taken the flags if it finds that it has too few slots, hosts, sockets or cores.
      static const std::regex lacks(
          "not enough slots|already filled|no allocated resources|more processes than the ppr|"
          "binding more");
      const Ended ended = Run("/usr/bin/env", arguments);
      const bool taken = ended.status == 0 || std::regex_search(ended.err, lacks);
      return taken ? "" : "status " + std::to_string(ended.status) + ": " + ended.err;
    }
    const std::string path = program->substr(std::string("bazel-bin/").size());
    Words arguments(program + 1, words.end());
    if (path == "tools/train/train") {
      arguments.insert(arguments.end(), {"--data-dir", "nowhere"});
      const Ended ended = Run(path, arguments);
      static const std::regex lacks("nowhere|GPU");
      return std::regex_search(ended.err, lacks) ? "" : ended.err;
    }
    std::string unknown;
    for (const std::string& flag : FlagsNotInHelp(path, arguments, scratch_))
      unknown += path + " --help does not list " + flag + "\n";
    return unknown;
  }

  std::string scratch_;
};

// Without spaces around it, and without the comment behind it.
std::string Bare(const std::string& line) {
  std::string bare = line.substr(std::min(line.find_first_not_of(' '), line.size()));
  if (const size_t at = bare.find("  //"); at != bare.npos) bare.resize(at);
  return bare.substr(0, bare.find_last_not_of(' ') + 1);
}

// What is wrong with what a mark says of these lines of the page; "" for nothing.
std::string WrongWith(const std::string& mark, const std::string& page, const Words& lines) {
  const auto file = [&](const char* start) {
    return SourceRoot() / mark.substr(std::string(start).size());
  };
  if (mark == "figure") {
    for (const std::string& line : lines)
      if (line.ends_with(';') || line.starts_with('#')) return "a figure with code: " + line;
    return "";
  }
  if (mark.starts_with("unrun: ")) return "";
  if (mark.starts_with("as in ")) {
    if (!fs::exists(file("as in "))) return "no such file: " + mark;
    const std::string source = testing::ReadText(file("as in "));
    for (const std::string& line : lines)
      if (source.find(Bare(line)) == source.npos) return "not " + mark + ": " + line;
    return "";
  }
  if (mark.starts_with("held by ")) {
    if (!fs::exists(file("held by "))) return "no such file: " + mark;
    const bool reads = testing::ReadText(file("held by ")).find(page) != std::string::npos;
    return reads ? "" : mark + ", which does not speak of " + page;
  }
  return mark.empty() ? "has no mark and is no command that is tried: " + lines[0]
                      : "unknown mark: " + mark;
}

TEST_F(Marks, AreOnAllBlocksThatAreNotTried) {
  int tried = 0;
  for (const auto& [page, text] : Guides()) {
    EXPECT_EQ(text.find("\n```"), text.npos) << page << " has a fence: guides indent their blocks";
    for (const Block& block : BlocksOf(text)) {
      Words rest;
      for (const std::string& line : block.lines)
        if (IsCommand(line))
          EXPECT_EQ(Try(line), "") << page << ":" << block.line << ": " << line;
        else
          rest.push_back(line);
      tried += std::ssize(block.lines) - std::ssize(rest);
      const std::string where = page + ":" + std::to_string(block.line);
      if (rest.empty())
        EXPECT_EQ(block.mark, "") << where << " is tried and needs no mark";
      else
        EXPECT_EQ(WrongWith(block.mark, page, rest), "") << where;
    }
  }
  EXPECT_GT(tried, 80);
  if (!untried_.empty()) GTEST_SKIP() << "no mpirun, so these were NOT tried:\n" << untried_;
}

// At most one command or block in twenty is run by nobody.
TEST(Unrun, IsLittle) {
  int all = 0, unrun = 0;
  std::string listed;
  const auto is_unrun = [](const Command& command) {
    return std::ranges::any_of(
        Unrun(), [&](const auto& entry) { return Shown(command).starts_with(entry.first); });
  };
  for (const auto& [page, text] : Guides()) {
    for (const Command& command : CommandsOf(text)) {
      ++all;
      if (!is_unrun(command)) continue;
      ++unrun;
      listed += page + ": " + Shown(command) + "\n";
    }
    for (const Block& block : BlocksOf(text)) {
      Words rest;
      for (const std::string& line : block.lines) {
        if (line.starts_with("./bazelw ")) continue;
        if (IsCommand(line))
          ++all;
        else
          rest.push_back(line);
      }
      if (rest.empty() || block.mark == "figure") continue;
      // Lines that nobody runs count each, code that is held as one.
      const bool marked = block.mark.starts_with("unrun: ");
      all += marked ? static_cast<int>(rest.size()) : 1;
      if (!marked) continue;
      unrun += static_cast<int>(rest.size());
      listed += page + ":" + std::to_string(block.line) + ": " + block.mark + "\n";
    }
  }
  std::cout << unrun << " of " << all << " are not run:\n" << listed;
  EXPECT_LE(20 * unrun, all) << listed;
}

}  // namespace
}  // namespace torus::docs
