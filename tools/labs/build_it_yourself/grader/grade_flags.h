// Flags that the programs grade and grade_all share.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "tools/labs/build_it_yourself/grader/grade.h"

namespace torus::tools::labs {

struct GradeFlags {
  GradeOptions grade;
  std::string json, junit;  // files to write; empty: none
};

// Adds --seed, the limits, --json and --junit; `what`: what these two write, "the grade". The help
// of flags that are added to `app` later shows their defaults.
void AddGradeFlags(CLI::App& app, const std::string& what, GradeFlags& flags);

// Throws BadInput unless these files can be written (CheckOutput). Call it before the work.
void CheckGradeOutputs(const std::string& program, const GradeFlags& flags);

// Writes `text` to the file that a user has named, if one was named. A new or regular file is
// replaced, so it has the whole text or what it had before. Throws the errors of io::OutputFile and
// io::ReplaceFile.
void WriteIfNamed(const std::string& path, const std::string& text);

// The same, but only where a file is replaced: more will be written there. Pipes, terminals and
// what links lead to get the last text alone.
void WriteSoFar(const std::string& path, const std::string& text);

}  // namespace torus::tools::labs
