// Finds the files with which a graded file is compiled.
#pragma once

#include <string>

namespace torus::tools::labs {

// The folder of headers, drivers and templates. It is next to the program if both were copied
// elsewhere together; else in Bazel's runfiles; else in the clone in which the program is started.
// The clone comes last because it has the solutions. Throws BrokenEnvironment if the folder is in
// none of these places.
std::string LabsFolder();

}  // namespace torus::tools::labs
