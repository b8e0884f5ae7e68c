// Opens several files of a folder that a writer (folder.h) may replace meanwhile.
#pragma once

#include <string>

#include "runtime/error.h"

namespace torus::io {

// A folder at this moment, and whether its path still leads to it.
class FolderIdentity {
 public:
  // Opens the folder `path`, or wherever its last commit is between two renames.
  explicit FolderIdentity(const std::string& path);
  ~FolderIdentity();
  FolderIdentity(const FolderIdentity&) = delete;
  FolderIdentity& operator=(const FolderIdentity&) = delete;

  const std::string& folder() const { return folder_; }
  // Whether the path still leads to this folder; if there was no folder, whether there still is
  // none.
  bool StillNamed() const;

 private:
  const std::string path_;
  std::string folder_;
  int fd_ = -1;  // kept open, so that no other folder gets its inode number; -1: no folder
};

// Returns open(folder), whose files are all from one commit of the folder `path`: `open` is called
// again if a writer replaced the folder meanwhile. It must keep files open, mapped or read, not
// just their names. Throws what `open` throws, also for a missing folder, and BrokenEnvironment
// after a thousand attempts. (For a folder of few files, use FolderReader, which opens all of
// them.)
template <class Open>
auto OpenOneCommit(const std::string& path, const Open& open) {
  constexpr int kMostTries = 1000;
  for (int i = 0; i < kMostTries; ++i) {
    const FolderIdentity now(path);
    try {
      auto opened = open(now.folder());
      if (now.StillNamed()) return opened;
    } catch (const BadInput&) {
      if (now.StillNamed()) throw;
    }
  }
  Throw<BrokenEnvironment>(path, "was replaced {} times while it was opened", kMostTries);
}

}  // namespace torus::io
