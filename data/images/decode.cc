#include "data/images/decode.h"

#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "data/files/file.h"
#include "data/images/gif.h"
#include "data/images/integrity.h"
#include "data/images/jpeg.h"
#include "data/images/pnm.h"
#include "data/images/tiff.h"
#include "data/images/webp.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_ONLY_PNG
#define STBI_ONLY_BMP
#define STBI_ONLY_GIF
#include <stb/stb_image.h>

namespace torus::data {
namespace {

constexpr int kChannels = 3;

struct FreePixels {
  void operator()(stbi_uc* pixels) const { stbi_image_free(pixels); }
};

// These settings apply to the whole process: stb_image 2.27 defines the per-thread form of the
// second under another name than it declares.
bool UndoApple() {
  stbi_convert_iphone_png_to_rgb(1);
  stbi_set_unpremultiply_on_load(1);
  return true;
}

using Bytes = std::span<const uint8_t>;

// Refuses a claimed size before memory is allocated for it.
ImageSize CheckClaim(Bytes bytes, const std::string& name) {
  Require(bytes.size() <= std::numeric_limits<int>::max(), name,
          "requires an image of less than 2 GiB, got {} bytes", bytes.size());
  int width = 0, height = 0, channels = 0;
  const int ok = stbi_info_from_memory(bytes.data(), static_cast<int>(bytes.size()), &width,
                                       &height, &channels);
  Require(ok != 0, name,
          "requires a JPEG, PNG, WebP, TIFF, GIF, BMP, PPM or PGM image, got {} bytes: {}",
          bytes.size(), stbi_failure_reason());
  return CheckSize({height, width}, name);
}

// The file as passed to stb_image.
struct Prepared {
  std::vector<uint8_t> whole;  // the file and what it lacks at its end, if anything
  Bytes bytes;                 // those of `whole`, or the file's own
  ImageSize size;
};

// Throws BadInput unless the file's structure is sound.
Prepared Prepare(Bytes bytes, const std::string& name) {
  Prepared prepared{.whole = {}, .bytes = bytes, .size = CheckClaim(bytes, name)};
  if (const Bytes missing = CheckImageIntegrity(bytes, name); !missing.empty()) {
    prepared.whole.assign(bytes.begin(), bytes.end());
    prepared.whole.insert(prepared.whole.end(), missing.begin(), missing.end());
    prepared.bytes = prepared.whole;
  }
  return prepared;
}

// Returns an undefined tensor if stb_image finds damage; stbi_failure_reason() then names it.
Tensor Decode(Bytes bytes) {
  static const bool undoes_apple = UndoApple();
  TORUS_CHECK(undoes_apple);
  int width = 0, height = 0, channels = 0;
  const std::unique_ptr<stbi_uc, FreePixels> pixels(stbi_load_from_memory(
      bytes.data(), static_cast<int>(bytes.size()), &width, &height, &channels, kChannels));
  if (pixels == nullptr && std::string_view(stbi_failure_reason()) == "outofmem")
    throw std::bad_alloc();
  if (pixels == nullptr) return {};
  Tensor image({height, width, kChannels}, DType::kU8);
  std::memcpy(image.mutable_raw(), pixels.get(), image.bytes());
  return image;
}

ImageSize SizeByStb(Bytes bytes, const std::string& name) { return Prepare(bytes, name).size; }

Tensor DecodeByStb(Bytes bytes, const std::string& name) {
  const Prepared prepared = Prepare(bytes, name);
  Tensor image = Decode(prepared.bytes);
  Require(image.defined(), name, "requires a whole image, got a damaged one: {}",
          image.defined() ? "" : stbi_failure_reason());
  return image;
}

// Who reads a file, by its first bytes.
struct Reader {
  ImageSize (*size)(Bytes bytes, const std::string& name);
  Tensor (*decode)(Bytes bytes, const std::string& name);
};

Reader ReaderOf(Bytes bytes) {
  if (IsJpeg(bytes)) return {JpegSize, DecodeJpeg};
  if (IsPnm(bytes)) return {PnmSize, DecodePnm};
  if (IsWebp(bytes)) return {WebpSize, DecodeWebp};
  if (IsTiff(bytes)) return {TiffSize, DecodeTiff};
  return {SizeByStb, DecodeByStb};
}

}  // namespace

ImageSize CheckImage(Bytes bytes, const std::string& name) {
  return ReaderOf(bytes).size(bytes, name);
}

Tensor DecodeImage(Bytes bytes, const std::string& name) {
  return ReaderOf(bytes).decode(bytes, name);
}

bool HasMoreFrames(Bytes bytes, const std::string& name) {
  return IsAnimatedWebp(bytes) || IsAnimatedGif(bytes) ||
         (IsTiff(bytes) && HasMorePages(bytes, name));
}

Tensor ReadImage(const std::string& path) { return DecodeImage(ReadFile(path), path); }

}  // namespace torus::data
