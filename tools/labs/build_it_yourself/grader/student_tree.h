// The folder that students get: the programs of the labs, the files to fill in and their headers,
// without solutions.
#pragma once

#include <string>
#include <vector>

namespace torus::tools::labs {

// Paths of the programs to hand out.
struct StudentPrograms {
  std::string grade, train_with;
  std::string question;                // of all questions: the name of the file selects one
  std::vector<std::string> questions;  // their names: "q1"
};

// Makes the folder `out` with the templates, README.md, the programs and the files that they need
// to compile, from `labs_folder`. The questions are links to the first of them. Throws BadInput if
// `out` exists, and BrokenEnvironment if a program is missing; then nothing is made.
void WriteStudentTree(const std::string& labs_folder, const StudentPrograms& programs,
                      const std::string& out);

}  // namespace torus::tools::labs
