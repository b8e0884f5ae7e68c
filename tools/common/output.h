// Files that a program writes where a flag says.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace torus::tools {

// Throws BadInput, "[codec] --encoded /a/b: there is no folder /a", unless a file can be written at
// `path`: its folder is there and may be written, and it is no folder itself. Nothing is changed;
// an empty path passes. For programs that write only after long work.
void CheckOutput(const std::string& program, const std::string& flag, const std::string& path);

// The same for a folder that will be made with its parents where it is missing.
void CheckOutputFolder(const std::string& program, const std::string& flag,
                       const std::string& path);

// Absolute, for messages.
std::string FullPath(const std::string& path);

// Writes the file, and "wrote PATH", absolute, to `say`.
void WriteOutput(const std::string& path, std::string_view content, std::FILE* say = stdout);

}  // namespace torus::tools
