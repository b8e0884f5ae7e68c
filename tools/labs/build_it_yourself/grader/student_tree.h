// The folder that students get: the files to fill in, their headers and the grader, without
// solutions.
#pragma once

#include <string>

namespace torus::tools::labs {

// Makes the folder `out` with the templates, README.md, the program `grade` and the files that it
// needs to compile, from `labs_folder` and the grader's `program`. Throws BadInput if `out` exists,
// and BrokenEnvironment if there is no `program`; then nothing is made.
void WriteStudentTree(const std::string& labs_folder, const std::string& program,
                      const std::string& out);

}  // namespace torus::tools::labs
