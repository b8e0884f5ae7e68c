// A memory-mapped file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace torus::data {

// Maps a whole regular file for reading; pages are loaded from the disk at first access. The file
// must not be shortened meanwhile: the system would kill the program.
class MappedFile {
 public:
  // Throws BadInput with the system's reason if the file cannot be opened or is not a regular file,
  // and BrokenEnvironment if it cannot be mapped.
  explicit MappedFile(std::string path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  const std::string& path() const { return path_; }  // as it was given
  // The whole file; valid as long as this object.
  std::span<const uint8_t> bytes() const { return {static_cast<const uint8_t*>(data_), size_}; }

 private:
  std::string path_;
  void* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace torus::data
