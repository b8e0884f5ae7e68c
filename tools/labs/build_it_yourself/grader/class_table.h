// Grades a class: a folder with one folder per student, which has a file for each exercise that the
// student has done, named after the exercise: anna/ring.cc.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tools/labs/build_it_yourself/grader/grade.h"

namespace torus::tools::labs {

struct StudentGrades {
  std::string student;                  // the folder's name
  std::map<std::string, Grade> grades;  // by exercise; without those not handed in
  // Names in the folder that are no exercise's, such as rnig.cc; without hidden files.
  std::vector<std::string> passed_over = {};
};

// What is told on the way; members may be empty.
struct ClassProgress {
  std::function<void(const std::string& student, const Grade& grade)> on_file;
  std::function<void(const std::vector<StudentGrades>& so_far)> on_student;
};

// Sorted by name. A file that cannot be read gets no points. A signal that ends the program ends
// the list behind what was graded by then (tools/common/stop_signal.h). Throws BadInput if `folder`
// is not a folder or has no folder in it.
std::vector<StudentGrades> GradeClass(Compiler& compiler, const std::string& folder,
                                      const GradeOptions& options,
                                      const ClassProgress& progress = {});

// A row per student and a column per exercise: points, or "-" if nothing was handed in. Then the
// first reason for each file with less than full marks, and a line for each file that was passed
// over.
std::string ToText(const std::vector<StudentGrades>& students);
// Only the table, comma-separated; a cell is empty if nothing was handed in.
std::string ToCsv(const std::vector<StudentGrades>& students);
// [{"student", "grades": [...], "passed_over": [...]}], each grade as ToJson(const Grade&) writes
// it.
nlohmann::json ToJson(const std::vector<StudentGrades>& students);
// <testsuites> with a <testsuite> named "anna.ring" for each file.
std::string ToJUnit(const std::vector<StudentGrades>& students);

}  // namespace torus::tools::labs
