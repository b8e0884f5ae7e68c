// A folder that is committed atomically: a reader (folder_reader.h) finds all files of the last
// commit or all files of the one before, even after a kill or a power loss at any moment.
//
//   lock .NAME.torus beside PATH  ->  write .NAME.torus/new-TOKEN/*  ->  sync  ->
//   swap it and PATH in one step  ->  sync  ->  remove .NAME.torus
//
// If the file system cannot swap: PATH -> .NAME.torus/old, .NAME.torus/new-TOKEN -> PATH. The next
// writer repairs, under the lock, what a killed writer left in .NAME.torus; nothing else is ever
// removed.
#pragma once

#include <optional>
#include <string>

#include "runtime/io/file_lock.h"
#include "runtime/io/folder_place.h"

namespace torus::io {

// One commit of the folder PATH. Errors of the system throw BrokenEnvironment with path and reason.
class FolderWriter {
 public:
  // Creates the parent folders. Throws BadInput if PATH is not a folder, and LockHeld if another
  // writer is working on it, naming that process.
  explicit FolderWriter(const std::string& path);
  // Without Commit, the old folder stays and the new files are removed.
  ~FolderWriter();
  FolderWriter(const FolderWriter&) = delete;
  FolderWriter& operator=(const FolderWriter&) = delete;

  // The folder to write the files to. Close them before Commit, which syncs them.
  const std::string& temporary() const { return fresh_; }
  // The name of that folder, for programs on other machines that write to it (FolderPlace::fresh).
  // No other commit has it.
  const std::string& name() const { return name_; }
  // Replaces the old folder by the new one.
  void Commit();

 private:
  // The writer's working folder, locked while the writer exists and removed with it.
  struct Work {
    explicit Work(const FolderPlace& place);
    ~Work();
    const FolderPlace& place;
    std::optional<FileLock> lock;
  };

  const FolderPlace place_;
  const std::string name_, fresh_;
  Work work_;
};

// Removes a folder that was committed atomically, under its writer's lock. Readers that have it
// open can go on reading. Does nothing if it does not exist. Throws like FolderWriter.
void RemoveFolder(const std::string& path);

}  // namespace torus::io
