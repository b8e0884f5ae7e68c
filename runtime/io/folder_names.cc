#include "runtime/io/folder_names.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <system_error>

#include "runtime/error.h"

namespace torus::io {

std::vector<std::string> NamesIn(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator at(folder, error); !error && at != fs::directory_iterator();
       at.increment(error))
    names.push_back(at->path().filename().string());
  if (error) Throw<BrokenEnvironment>(folder, "cannot list: {}", error.message());
  std::ranges::sort(names);
  return names;
}

bool IsFileName(const std::string& name) {
  return !name.empty() && name.size() <= NAME_MAX && name.find('/') == std::string::npos &&
         std::ranges::none_of(name, [](unsigned char c) { return c < 0x20 || c == 0x7f; }) &&
         name != "." && name != "..";
}

}  // namespace torus::io
