// A data set of a few images in IDX files, as Fashion-MNIST has them.
#pragma once

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

namespace torus::recipes::testing {

// Writes an IDX file of bytes.
inline void WriteIdx(const std::string& path, const std::vector<uint32_t>& dims,
                     const std::string& bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write("\0\0\x08", 3).put(static_cast<char>(dims.size()));
  for (uint32_t size : dims)
    for (int shift = 24; shift >= 0; shift -= 8) file.put(static_cast<char>(size >> shift));
  file << bytes;
}

// Images of a bright bar whose place is the class, with some noise of a fixed pattern.
inline void WriteImages(const std::string& folder, const std::string& prefix, uint32_t count) {
  std::string images, labels;
  uint32_t noise = 1;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t label = i % 10;
    labels.push_back(static_cast<char>(label));
    for (uint32_t p = 0; p < 28 * 28; ++p) {
      noise = noise * 1664525 + 1013904223;
      const bool bright = p / 28 / 3 == label;
      images.push_back(static_cast<char>((bright ? 200 : 0) + (noise >> 27)));
    }
  }
  WriteIdx(folder + "/" + prefix + "-images-idx3-ubyte", {count, 28, 28}, images);
  WriteIdx(folder + "/" + prefix + "-labels-idx1-ubyte", {count}, labels);
}

}  // namespace torus::recipes::testing
