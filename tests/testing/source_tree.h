// Finds the real source tree, for tests that read the sources. Such tests are tagged external and
// have data = ["//:WORKSPACE"].
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace torus::testing {

// The folder of the real WORKSPACE: follows the link in the test's runfiles.
std::filesystem::path SourceRoot();

// Files below root/folder with one of the extensions (".h"), sorted, relative to the root.
std::vector<std::filesystem::path> SourceFiles(const std::string& folder,
                                               const std::vector<std::string>& extensions);

std::string ReadText(const std::filesystem::path& path);

}  // namespace torus::testing
