// The names of files in a folder, listed without exceptions of the standard library.
#pragma once

#include <string>
#include <vector>

namespace torus::io {

// The names in `folder`, sorted. Throws BrokenEnvironment with the path and the reason if the
// system refuses, also in the middle (std::filesystem's iterators throw an error of their own
// there, which is none of Torus').
std::vector<std::string> NamesIn(const std::string& folder);

// Whether `name` may be the name of a file in a folder: not empty, no path, no longer than file
// systems take. Of what a file may say is a name, also no control characters: they would break a
// message that names it into lines.
bool IsFileName(const std::string& name);

}  // namespace torus::io
