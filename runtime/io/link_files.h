// A second name for files that nobody changes any more: what a folder committed whole holds.
#pragma once

#include <string>

namespace torus::io {

// Gives each regular file of the folder `from` (those of folders in it are left out) the same name
// in the folder `to`, without a copy where the file system has hard links. The errors of InputFile
// and OutputFile; BadInput where there is no `from`.
void LinkFiles(const std::string& from, const std::string& to);

}  // namespace torus::io
