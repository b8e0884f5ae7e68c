// The grades of a class: a folder of folders, one a student, with a file for each exercise that the
// student has filled, named as the exercise: anna/ring.cc.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/labs/build_it_yourself/grader/grade.h"

namespace torus::tools::labs {

struct StudentGrades {
  std::string student;                  // the folder's name
  std::map<std::string, Grade> grades;  // by exercise; those that are not handed in are missing
};

// In the order of the names. What is handed in and is no file that can be read gets no points.
// BadInput where `folder` is none, or has no folder in it.
std::vector<StudentGrades> GradeClass(Compiler& compiler, const std::string& folder,
                                      const GradeOptions& options);

// A row a student and a column an exercise: points, or "-" where nothing is handed in; then for
// each file that has less than full marks the first reason.
std::string ToText(const std::vector<StudentGrades>& students);
// The table alone, comma-separated; empty where nothing is handed in.
std::string ToCsv(const std::vector<StudentGrades>& students);

}  // namespace torus::tools::labs
