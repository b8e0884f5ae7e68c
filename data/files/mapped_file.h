// A file seen as memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace torus::data {

// Maps a whole regular file for reading; pages come from the disk as they are looked at. Nobody may
// shorten the file meanwhile: the system then ends the program.
class MappedFile {
 public:
  // BadInput with the system's reason where it cannot be opened or is no regular file,
  // BrokenEnvironment where it cannot be mapped.
  explicit MappedFile(std::string path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }
  std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t*>(data_), size_}; }

 private:
  std::string path_;
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace torus::data
