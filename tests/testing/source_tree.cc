#include "tests/testing/source_tree.h"

#include <algorithm>
#include <fstream>
#include <iterator>

#include "runtime/error.h"

namespace torus::testing {

namespace fs = std::filesystem;

fs::path SourceRoot() { return fs::canonical("WORKSPACE").parent_path(); }

std::vector<fs::path> SourceFiles(const std::string& folder,
                                  const std::vector<std::string>& extensions) {
  const fs::path root = SourceRoot();
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string extension = entry.path().extension().string();
    if (entry.is_regular_file() && std::ranges::count(extensions, extension) > 0)
      files.push_back(fs::relative(entry.path(), root));
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string ReadText(const fs::path& path) {
  std::ifstream in(path);
  Require(in.good(), "source tree", "cannot read {}", path.string());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

}  // namespace torus::testing
