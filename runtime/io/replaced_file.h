// Replaces a file atomically.
#pragma once

#include <functional>
#include <string>

namespace torus::io {

// Calls `write` with the name of a new file in the same folder as `path`, then renames that file to
// `path`; if `path` is a link, to the file that it leads to. If the process is killed before that,
// or `write` throws, the old file stays as it was. Throws BrokenEnvironment if the rename fails.
void ReplaceFile(const std::string& path, const std::function<void(const std::string&)>& write);

}  // namespace torus::io
