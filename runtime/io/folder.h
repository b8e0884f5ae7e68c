// A folder committed whole: whoever opens it finds all files of the last commit or all of the one
// before, also after a kill or a loss of power at any moment.
//
//   write PATH.committing/*  ->  sync  ->  swap PATH.committing and PATH in one step  ->  sync  ->
//   remove PATH.committing (now the old one)
//
// Where the file system cannot swap: PATH -> PATH.replaced, PATH.committing -> PATH, remove
// PATH.replaced. A kill between the two renames leaves no PATH; RecoverFolder then brings the old
// one back.
#pragma once

#include <string>

namespace torus::io {

// One commit of the folder PATH. One writer at a time. Errors of the system are BrokenEnvironment
// with path and reason.
class FolderWriter {
 public:
  // Recovers PATH, then makes an empty PATH.committing beside it (and the folders above). BadInput
  // where PATH is something other than a folder.
  explicit FolderWriter(const std::string& path);
  // Without Commit the old folder stays and what was written is removed.
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  // Where to write the files, closed before Commit (which syncs them).
  const std::string& temporary() const { return fresh_; }
  // Puts the new folder in the place of the old one.
  void Commit();

 private:
  std::string path_, fresh_;
};

// Undoes or finishes what a killed commit left beside PATH; call before reading it. Whether PATH
// then is a folder.
bool RecoverFolder(const std::string& path);

}  // namespace torus::io
