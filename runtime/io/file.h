// Files whose errors are never lost: each call reports path and reason if the system refuses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace torus::io {

// What becomes of a file that is already there.
enum class IfExists {
  kTruncate,
  kAppend,
  kRefuse,  // for files that others may hold by another name, such as those of a committed folder
};

// A file being written. Every failure (disk full, no permission, no such folder) throws
// BrokenEnvironment with the path and the system's reason. Long files are on their way to the disk
// while they are written, in slices, and the calling thread ticks (progress.h) after each of them.
class OutputFile {
 public:
  explicit OutputFile(std::string path, IfExists if_exists = IfExists::kTruncate);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  // Appends the bytes.
  void Write(const void* data, size_t bytes);
  void Write(std::string_view text) { Write(text.data(), text.size()); }
  // Closes the file; with `durable`, after fsync, so that the bytes survive a power loss. Without
  // Close, the destructor closes it and ignores errors, which is meant for error paths only.
  void Close(bool durable);

 private:
  void StartSlice();
  void FinishSlices(uint64_t end);

  std::string path_;
  int fd_ = -1;
  // Bytes of the file so far; those of them that the system has begun to move to the disk; those
  // that are there.
  uint64_t written_ = 0, begun_ = 0, synced_ = 0;
};

// A regular file being read. Throws BadInput if it cannot be opened, and BrokenEnvironment if the
// disk fails. The calling thread ticks (progress.h) after each slice of a long file.
class InputFile {
 public:
  explicit InputFile(std::string path);
  // Opens the file `name` of the open folder `folder`; errors call it `path`.
  InputFile(int folder, const std::string& name, std::string path);
  ~InputFile();
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& path() const { return path_; }  // as errors name it
  uint64_t size() const { return size_; }            // bytes, when it was opened
  // Reads exactly `bytes` from `offset`. Throws BadInput if the file ends earlier.
  void ReadAt(uint64_t offset, void* data, size_t bytes) const;
  std::string ReadAll() const;  // the whole file

 private:
  std::string path_;
  int fd_ = -1;
  uint64_t size_ = 0;
};

// Waits until a file's bytes, or a folder's names (created, renamed, removed), are on the disk.
void Sync(const std::string& path);

}  // namespace torus::io
