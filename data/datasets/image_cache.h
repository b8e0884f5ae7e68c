// ImageCache: the images of a list of files, decoded and shrunk once, and then mapped into memory.
//
//   FOLDER/pixels             u8 (height, width, 3) of one image behind the other
//   FOLDER/index.safetensors  "images" i64 (N, 7): the fields of CachedImage for each file, and
//                             metadata: the side, the names of the files, who is left out and why
//
// The folder is committed whole (runtime/io/folder.h); make_image_cache.h makes it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/files/mapped_file.h"
#include "runtime/tensor.h"

namespace torus::data {

// What an index says of a file.
struct CachedImage {
  int64_t file_bytes = 0, file_time = 0;  // of the file when it was read; time in nanoseconds
  int64_t height = 0, width = 0;          // of the cached image; 0: the file is left out
  int64_t offset = 0, checksum = 0;       // of its pixels: the first byte, and CRC-32C
  int64_t more_frames = 0;                // 1 if only the file's first frame is in the cache
};

// Fills in file_bytes and file_time of a file; -1 if it cannot be read.
CachedImage StampOf(const std::string& path);

// The files that a cache is made of, and how.
struct CacheSource {
  std::vector<std::string> paths;  // in the order of the images
  int64_t side = 0;                // to which the shorter side is shrunk
};

// What a cache says of its files.
struct CacheIndex {
  std::vector<CachedImage> images;          // in the order of the files
  std::map<int64_t, std::string> left_out;  // image -> the reason
};

// Thread-safe.
class ImageCache {
 public:
  // Opens the cache in `folder`. Null if there is none, or if it was made of other files or for
  // another side, or if a file has another size or time than it had. Throws BadInput naming the
  // file of the cache that is damaged or ends early.
  static std::shared_ptr<const ImageCache> Open(const std::string& folder,
                                                const CacheSource& source);

  const CacheIndex& index() const { return index_; }          // what was read of its index
  uint64_t bytes() const { return pixels_->bytes().size(); }  // of all pixels
  // u8 (height, width, 3) in the mapped memory: do not write to it. Undefined if the file is left
  // out. Throws BrokenEnvironment if the bytes are not those that were written.
  Tensor Image(int64_t index) const;

 private:
  ImageCache(CacheIndex index, std::shared_ptr<const MappedFile> pixels);

  const CacheIndex index_;
  const std::shared_ptr<const MappedFile> pixels_;
};

// The names of a cache's files in its folder.
std::string CachePixels(const std::string& folder);
std::string CacheIndexFile(const std::string& folder);

// Writes the index of the cache of `source` to `folder`.
void WriteCacheIndex(const std::string& folder, const CacheSource& source, const CacheIndex& index);

}  // namespace torus::data
