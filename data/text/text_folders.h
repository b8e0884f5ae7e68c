// Texts that are read to write a folder, and the folder that is written.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace torus::data {

// Returns the path of a text file, less than 2 GiB. Throws BadInput naming it for a larger one.
const std::string& CheckedText(const std::string& path);

using IsOwn = std::function<bool(const std::filesystem::directory_entry&)>;

// Checks an output folder, all of whose contents will be replaced. Throws BadInput naming it if it
// has any entry that is not own, one of `what` ("token files").
void CheckReplaceable(const std::string& folder, const char* what, const IsOwn& is_own);

}  // namespace torus::data
