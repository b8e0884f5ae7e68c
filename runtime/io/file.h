// Files whose errors are never lost: each call reports path and reason if the system refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace torus::io {

// A file being written. Every failure (disk full, no permission, no such folder) throws
// BrokenEnvironment with the path and the system's reason.
class OutputFile {
 public:
  explicit OutputFile(std::string path);  // creates or truncates
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Write(const void* data, size_t bytes);
  void Write(std::string_view text) { Write(text.data(), text.size()); }
  // Closes the file; with `durable`, after fsync, so that the bytes survive a power loss. Without
  // Close, the destructor closes it and ignores errors, which is meant for error paths only.
  void Close(bool durable);

 private:
  std::string path_;
  int fd_ = -1;
};

// A regular file being read. Throws BadInput if it cannot be opened, and BrokenEnvironment if the
// disk fails.
class InputFile {
 public:
  explicit InputFile(std::string path);
  // Opens the file `name` of the open folder `folder`; errors call it `path`.
  InputFile(int folder, const std::string& name, std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  // Reads exactly `bytes` from `offset`. Throws BadInput if the file ends earlier.
  void ReadAt(uint64_t offset, void* data, size_t bytes) const;
  std::string ReadAll() const;

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

// Waits until a file's bytes, or a folder's names (created, renamed, removed), are on the disk.
void Sync(const std::string& path);

}  // namespace torus::io
