#include "data/text/text_folders.h"

#include "data/files/mapped_file.h"
#include "runtime/error.h"
#include "runtime/io/folder.h"

namespace torus::data {

constexpr size_t kMostBytes = (size_t{1} << 31) - 1;

const std::string& CheckedText(const std::string& path) {
  const size_t bytes = MappedFile(path).bytes().size();
  Require(bytes <= kMostBytes, path, "requires a text of at most {} bytes, got {}: cut it",
          kMostBytes, bytes);
  return path;
}

void CheckReplaceable(const std::string& folder, const char* what, const IsOwn& is_own) {
  const std::string committed = io::CommittedFolder(folder);
  if (committed.empty()) return;
  for (const auto& entry : std::filesystem::directory_iterator(committed)) {
    if (!is_own(entry))
      Throw<BadInput>(folder, "requires a new folder, or one with nothing but {}, got one with {}",
                      what, entry.path().filename().string());
  }
}

}  // namespace torus::data
