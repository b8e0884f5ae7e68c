// What students are given: the files to fill, the headers that they are written against and the
// grader, and no solution.
#pragma once

#include <string>

namespace torus::tools::labs {

// Makes the folder `out` with the templates, README.md, the program `grade` and what that compiles
// files with, from `labs_folder` and the grader's program. BadInput where `out` is there already,
// BrokenEnvironment where there is no program; then nothing is made.
void WriteStudentTree(const std::string& labs_folder, const std::string& program,
                      const std::string& out);

}  // namespace torus::tools::labs
