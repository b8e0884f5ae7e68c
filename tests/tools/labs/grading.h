// Grades the files of the labs as tests.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/tools/labs/faulty_file.h"
#include "tools/labs/build_it_yourself/grader/grade.h"
#include "tools/labs/build_it_yourself/grader/write_grade.h"

namespace torus::tools::labs::testing {

inline Compiler& LabsCompiler() {
  static Compiler compiler(LabsFolder());
  return compiler;
}

inline Grade GradeOf(const std::string& exercise, const std::string& file,
                     GradeOptions options = {}) {
  return GradeFile(LabsCompiler(), ExerciseByName(exercise), file, options);
}

// Of a fault in faults/EXERCISE.
inline Grade GradeOfFault(const std::string& exercise, const std::string& name,
                          GradeOptions options = {}) {
  return GradeOf(exercise, FaultyFile(exercise, name), options);
}

inline std::string ReasonOf(const Grade& grade, const std::string& test) {
  const auto found = std::ranges::find(grade.tests, test, &TestResult::name);
  return found == grade.tests.end() ? "there is no test " + test : found->reason;
}

inline void ExpectFullMarks(const std::string& name) {
  const Exercise& exercise = ExerciseByName(name);
  const std::string file = LabsFolder() + "/solutions/" + name + ".cc";
  const Compiled program = LabsCompiler().Program(exercise, file);
  for (const uint64_t seed : {1, 2, 3}) {
    const Grade grade = GradeProgram(program, exercise, file, {.seed = seed});
    EXPECT_EQ(grade.points(), 100) << ToText(grade);
    EXPECT_EQ(grade.of(), 100);
    EXPECT_EQ(grade.messages, "");
  }
}

// What students begin with compiles without a warning, and is worth little.
inline void ExpectTemplateIsPoor(const std::string& exercise) {
  const std::string folder = ExerciseByName(exercise).folder;
  const Grade grade = GradeOf(exercise, LabsFolder() + "/" + folder + "/" + exercise + ".cc");
  EXPECT_LE(grade.points(), 20) << ToText(grade);
  EXPECT_EQ(grade.messages, "");
}

struct Fault {
  std::string file;  // without its ending
  std::string test;  // that finds it
  std::string says;  // a part of the reason
};

// A file that is found by several tests is graded once where they follow each other.
inline void ExpectFaults(const std::string& exercise, const std::vector<Fault>& faults) {
  EXPECT_GE(faults.size(), 8U);
  Grade grade;
  std::string graded;
  for (const Fault& fault : faults) {
    if (fault.file != graded) grade = GradeOfFault(exercise, fault.file);
    graded = fault.file;
    EXPECT_LT(grade.points(), grade.of()) << fault.file;
    EXPECT_NE(ReasonOf(grade, fault.test).find(fault.says), std::string::npos)
        << fault.file << ": no \"" << fault.says << "\" in " << fault.test << " of\n"
        << ToText(grade);
  }
}

}  // namespace torus::tools::labs::testing
