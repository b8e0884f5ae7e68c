// Students' files with a planted fault: whole ones, or a solution with a few lines changed.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/error.h"
#include "tools/labs/build_it_yourself/grader/labs_folder.h"

namespace torus::tools::labs::testing {

inline std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  Require(file.is_open(), path, "cannot be read");
  return (std::stringstream() << file.rdbuf()).str();
}

// Lines that stand in the original once, and what they become.
struct Hunk {
  std::string old, now;
};

// faults/EXERCISE/NAME.diff: "# " says what the fault is; "@@" begins each hunk, whose lines begin
// with ' ' (stays), '-' (goes) or '+' (comes), as in a unified diff. In the order of the original.
inline std::vector<Hunk> HunksOf(const std::string& path) {
  std::vector<Hunk> hunks;
  std::istringstream lines(TextOf(path));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with('#')) continue;
    if (line == "@@") {
      hunks.emplace_back();
      continue;
    }
    TORUS_CHECK(!hunks.empty() && !line.empty() && std::string(" -+").find(line[0]) != line.npos,
                "{} has a line that belongs to no hunk: {}", path, line);
    if (line[0] != '+') hunks.back().old += line.substr(1) + "\n";
    if (line[0] != '-') hunks.back().now += line.substr(1) + "\n";
  }
  return hunks;
}

inline std::string Changed(const std::string& original, const std::vector<Hunk>& hunks) {
  std::string changed;
  size_t end = 0;  // of what is done of the original
  for (const auto& [old, now] : hunks) {
    const size_t at = original.find(old, end);
    TORUS_CHECK(!old.empty() && at != original.npos && original.find(old) == original.rfind(old),
                "the solution must have these lines once, behind the hunk before:\n{}", old);
    changed += original.substr(end, at - end) + now;
    end = at + old.size();
  }
  return changed + original.substr(end);
}

// The path of faults/EXERCISE/NAME.cc, or of the solution with NAME.diff's hunks.
inline std::string FaultyFile(const std::string& exercise, const std::string& name) {
  const std::string fault = "tests/tools/labs/faults/" + exercise + "/" + name;
  if (std::filesystem::exists(fault + ".cc")) return fault + ".cc";
  const std::string folder = ::testing::TempDir() + "/" + exercise;
  std::filesystem::create_directories(folder);
  const std::string path = folder + "/" + name + ".cc";
  std::ofstream(path) << Changed(TextOf(LabsFolder() + "/solutions/" + exercise + ".cc"),
                                 HunksOf(fault + ".diff"));
  return path;
}

}  // namespace torus::tools::labs::testing
