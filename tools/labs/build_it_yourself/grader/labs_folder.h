// Where the files lie that a graded file is compiled with.
#pragma once

#include <string>

namespace torus::tools::labs {

// The folder of headers, drivers and templates: beside the program, where they have been carried
// away together; else among Bazel's runfiles; where there are none of these either, in a clone that
// the program is started from. Never the clone first: it has the solutions. BrokenEnvironment where
// it is at none.
std::string LabsFolder();

}  // namespace torus::tools::labs
