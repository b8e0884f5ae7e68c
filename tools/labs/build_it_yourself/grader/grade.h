// Grades a file: compiles it, runs the tests of its exercise, and returns the points of each test.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tools/labs/build_it_yourself/grader/compiler.h"
#include "tools/labs/build_it_yourself/grader/exercise.h"

namespace torus::tools::labs {

struct TestResult {
  std::string name, about;
  int points = 0, of = 0;
  std::string reason;  // why there are no points; empty if there are
};

struct Grade {
  std::string exercise, file;
  uint64_t seed = 0;
  std::string messages;  // of the compiler
  std::vector<TestResult> tests;
  bool stopped = false;  // a signal ended the grading: not all tests were run to their end

  int points() const;
  int of() const;
};

struct GradeOptions {
  uint64_t seed = 1;  // for the hidden sizes, numbers of ranks and values
  Limits limits;
};

// A test that a signal ended (tools/common/stop_signal.h), and those behind it, say so as their
// reason. After two tests that ran out of time, the rest are not run and give no points.
Grade GradeFile(Compiler& compiler, const Exercise& exercise, const std::string& file,
                const GradeOptions& options);
// The same for a file that has been compiled.
Grade GradeProgram(const Compiled& program, const Exercise& exercise, const std::string& file,
                   const GradeOptions& options);

}  // namespace torus::tools::labs
