#include "tests/fuzz/image_seeds.h"

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
#include <stb/stb_image_write.h>
#pragma GCC diagnostic pop

#include <string>

namespace torus::fuzz {
namespace {

constexpr int kWidth = 9, kHeight = 7;

void Append(void* context, void* data, int size) {
  auto* const bytes = static_cast<const uint8_t*>(data);
  static_cast<Bytes*>(context)->insert(static_cast<Bytes*>(context)->end(), bytes, bytes + size);
}

Bytes Pixels(int channels) {
  Bytes pixels(static_cast<size_t>(kWidth * kHeight * channels));
  for (size_t i = 0; i < pixels.size(); ++i) pixels[i] = static_cast<uint8_t>(i * 37);
  return pixels;
}

Bytes Png(int channels) {
  Bytes file;
  stbi_write_png_to_func(Append, &file, kWidth, kHeight, channels, Pixels(channels).data(), 0);
  return file;
}

Bytes Jpeg() {
  Bytes file;
  stbi_write_jpg_to_func(Append, &file, kWidth, kHeight, 3, Pixels(3).data(), 90);
  return file;
}

Bytes Bmp() {
  Bytes file;
  stbi_write_bmp_to_func(Append, &file, kWidth, kHeight, 3, Pixels(3).data());
  return file;
}

Bytes Portable(const std::string& magic, int channels) {
  const std::string header =
      magic + " " + std::to_string(kWidth) + " " + std::to_string(kHeight) + " 255\n";
  Bytes file(header.begin(), header.end());
  const Bytes pixels = Pixels(channels);
  file.insert(file.end(), pixels.begin(), pixels.end());
  return file;
}

}  // namespace

std::vector<Bytes> ImageSeeds() {
  return {Png(3), Png(1), Png(4), Jpeg(), Bmp(), Portable("P6", 3), Portable("P5", 1)};
}

}  // namespace torus::fuzz
