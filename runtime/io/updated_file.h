// A file whose parts are read and overwritten in place, by one process at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace torus::io {

// Errors of the system throw BrokenEnvironment with the path and the reason.
class UpdatedFile {
 public:
  // Opens the file, creating it empty if it is missing, and creates its parent folders. Throws
  // BadInput if another process has it open as an UpdatedFile.
  explicit UpdatedFile(std::string path);
  ~UpdatedFile();
  UpdatedFile(const UpdatedFile&) = delete;
  UpdatedFile& operator=(const UpdatedFile&) = delete;

  const std::string& path() const { return path_; }  // as it was given
  uint64_t size() const;                             // bytes at this moment
  // Reads `bytes` from `offset`. Returns whether the file had all of them.
  bool ReadAt(uint64_t offset, void* data, size_t bytes) const;
  // Over what is there, or behind its end.
  void WriteAt(uint64_t offset, const void* data, size_t bytes);
  void Truncate(uint64_t size);  // to this size
  // Waits until what was written is on the disk.
  void Sync();

 private:
  std::string path_;
  int fd_ = -1;
};

}  // namespace torus::io
