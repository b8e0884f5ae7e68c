// Grades a file: compiles it, runs the tests of its exercise, and says what each gives.
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
  std::string reason;  // why there are no points; empty where there are
};

struct Grade {
  std::string exercise, file;
  uint64_t seed = 0;
  std::string messages;  // of the compiler
  std::vector<TestResult> tests;

  int points() const;
  int of() const;
};

struct GradeOptions {
  uint64_t seed = 1;  // of the hidden sizes, ranks and values
  Limits limits;
};

// Where two tests have run out of time the rest are not run, and give nothing.
Grade GradeFile(Compiler& compiler, const Exercise& exercise, const std::string& file,
                const GradeOptions& options);

}  // namespace torus::tools::labs
