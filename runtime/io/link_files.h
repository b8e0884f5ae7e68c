// Hard links to files that no longer change, such as those of an atomically committed folder.
#pragma once

#include <string>

namespace torus::io {

// Gives each regular file directly in the folder `from` the same name in the folder `to`, without a
// copy if the file system has hard links. Throws like InputFile and OutputFile, and BadInput if
// `from` does not exist.
void LinkFiles(const std::string& from, const std::string& to);

}  // namespace torus::io
