// Files written so that an error is never lost: each call says path and reason when the system
// refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace torus::io {

// A file being written. Every failure (disk full, no permission, no such folder) is
// BrokenEnvironment with the path and the system's reason.
class OutputFile {
 public:
  explicit OutputFile(std::string path);  // creates or truncates
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  void Write(const void* data, size_t bytes);
  void Write(std::string_view text) { Write(text.data(), text.size()); }
  // Closes; with `durable`, after fsync: the bytes survive a loss of power. Without Close the
  // destructor closes quietly, which is for the way out of an error alone.
  void Close(bool durable);

 private:
  std::string path_;
  int fd_ = -1;
};

// A regular file being read. One that cannot be opened is BadInput, a failing disk
// BrokenEnvironment.
class InputFile {
 public:
  explicit InputFile(std::string path);
  // The file `name` of an open folder; `path` is what errors call it.
  InputFile(int folder, const std::string& name, std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }
  uint64_t size() const { return size_; }
  // Reads exactly `bytes` from `offset`; BadInput where the file ends before.
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
