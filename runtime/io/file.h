// Files written so that an error is never lost: each call says path and reason when the system
// refuses.
#pragma once

#include <cstddef>
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

// Makes names created in, renamed into or removed from `folder` durable.
void SyncFolder(const std::string& folder);

}  // namespace torus::io
