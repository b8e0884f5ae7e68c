// A folder committed whole: whoever opens it (folder_reader.h) finds all files of the last commit
// or all of the one before, also after a kill or a loss of power at any moment.
//
//   lock .NAME.torus beside PATH  ->  write .NAME.torus/new/*  ->  sync  ->
//   swap it and PATH in one step  ->  sync  ->  remove .NAME.torus
//
// Where the file system cannot swap: PATH -> .NAME.torus/old, .NAME.torus/new -> PATH. What a
// killed writer leaves in .NAME.torus is put right by the next writer, under the lock; nothing else
// is ever removed.
#pragma once

#include <optional>
#include <string>

#include "runtime/io/file_lock.h"
#include "runtime/io/folder_place.h"

namespace torus::io {

// One commit of the folder PATH. Errors of the system are BrokenEnvironment with path and reason.
class FolderWriter {
 public:
  // Makes the folders above. BadInput where PATH is something other than a folder, or where another
  // writer is at work on it, naming its process.
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
  // The writer's own folder, held as long as it lives and removed with it.
  struct Work {
    explicit Work(const FolderPlace& place);
    ~Work();
    const FolderPlace& place;
    std::optional<FileLock> lock;
  };

  const FolderPlace place_;
  const std::string fresh_;
  Work work_;
};

// Removes a folder that was committed whole, under its writer's lock; who has it open keeps it.
// Nothing where there is none. The errors of FolderWriter.
void RemoveFolder(const std::string& path);

}  // namespace torus::io
