// Opening several files of a folder that a writer (folder.h) may replace meanwhile.
#pragma once

#include <string>

#include "runtime/error.h"

namespace torus::io {

// A folder as it is now; whether its path still leads to it.
class FolderIdentity {
 public:
  // The folder `path`, or where its last commit stands for the moment between two renames.
  explicit FolderIdentity(const std::string& path);
  ~FolderIdentity();
  FolderIdentity(const FolderIdentity&) = delete;
  FolderIdentity& operator=(const FolderIdentity&) = delete;

  const std::string& folder() const { return folder_; }
  // Of what is no folder: that there still is none.
  bool StillNamed() const;

 private:
  const std::string path_;
  std::string folder_;
  int fd_ = -1;  // open, so that no other folder gets its number; -1 where there is none
};

// What `open`(folder) gives, all of whose files are then of one commit of the folder `path`: it is
// called again where a writer replaced the folder while it ran. It must keep files open, mapped or
// read, not their names. `open`'s errors, for a missing folder too; BrokenEnvironment after a
// thousand tries. (FolderReader opens all files of a folder, for those that are few.)
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
