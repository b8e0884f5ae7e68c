#include "data/images/tiff.h"

#include <tiffio.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "runtime/error.h"

namespace torus::data {
namespace {

using Bytes = std::span<const uint8_t>;

// Of one strip or tile, decoded, or of a table of them.
constexpr tmsize_t kMostOfOne = tmsize_t{256} << 20;

// What libtiff reads from, and its first complaint.
struct Source {
  Bytes bytes;
  size_t at = 0;
  std::string error;
};

tmsize_t Read(thandle_t handle, void* to, tmsize_t size) {
  auto& source = *static_cast<Source*>(handle);
  const size_t left = source.bytes.size() - std::min(source.at, source.bytes.size());
  const size_t count = std::min(left, static_cast<size_t>(std::max<tmsize_t>(size, 0)));
  if (count > 0) std::memcpy(to, source.bytes.data() + source.at, count);
  source.at += count;
  return static_cast<tmsize_t>(count);
}

tmsize_t RefuseToWrite(thandle_t, void*, tmsize_t) { return 0; }

toff_t Seek(thandle_t handle, toff_t offset, int whence) {
  auto& source = *static_cast<Source*>(handle);
  if (whence == SEEK_CUR) offset += source.at;
  if (whence == SEEK_END) offset += source.bytes.size();
  source.at = offset;
  return offset;
}

int Close(thandle_t) { return 0; }

toff_t SizeOf(thandle_t handle) { return static_cast<Source*>(handle)->bytes.size(); }

// libtiff 4.5 refuses uncompressed tiles in files that are not mapped.
int Map(thandle_t handle, void** base, toff_t* size) {
  const Bytes bytes = static_cast<Source*>(handle)->bytes;
  *base = const_cast<uint8_t*>(bytes.data());  // libtiff reads only
  *size = bytes.size();
  return 1;
}

void Unmap(thandle_t, void*, toff_t) {}

void Keep(Source& source, const char* format, va_list arguments) {
  if (!source.error.empty()) return;
  std::array<char, 256> text{};
  std::vsnprintf(text.data(), text.size(), format, arguments);
  source.error = text.data();
  if (source.error.find("byte limit") != std::string::npos)
    source.error = "a part of more than 256 MiB";
  for (char& c : source.error)
    if (c < ' ' || c > '~') c = '?';
  if (source.error.empty()) source.error = "unknown damage";
}

int OnError(TIFF*, void* source, const char*, const char* format, va_list arguments) {
  Keep(*static_cast<Source*>(source), format, arguments);
  return 1;  // nothing is printed
}

// libjpeg fills what is missing with grey, and warns.
int OnWarning(TIFF*, void* source, const char* module, const char* format, va_list arguments) {
  if (module != nullptr && std::string_view(module) == "JPEGLib")
    Keep(*static_cast<Source*>(source), format, arguments);
  return 1;
}

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using Handle = std::unique_ptr<TIFF, CloseTiff>;

struct FreeOptions {
  void operator()(TIFFOpenOptions* options) const { TIFFOpenOptionsFree(options); }
};

[[noreturn]] void Refuse(const Source& source, const std::string& name) {
  Throw<BadInput>(name, "requires a whole image, got a TIFF of {} bytes: {}", source.bytes.size(),
                  source.error.empty() ? "unknown damage" : source.error);
}

// `source` must outlive it.
Handle Open(Source& source, const std::string& name) {
  const std::unique_ptr<TIFFOpenOptions, FreeOptions> options(TIFFOpenOptionsAlloc());
  TIFFOpenOptionsSetMaxSingleMemAlloc(options.get(), kMostOfOne);
  TIFFOpenOptionsSetErrorHandlerExtR(options.get(), OnError, &source);
  TIFFOpenOptionsSetWarningHandlerExtR(options.get(), OnWarning, &source);
  Handle tiff(TIFFClientOpenExt("image", "r", &source, Read, RefuseToWrite, Seek, Close, SizeOf,
                                Map, Unmap, options.get()));
  if (tiff == nullptr) Refuse(source, name);
  return tiff;
}

ImageSize StoredSize(TIFF* tiff, const std::string& name) {
  uint32_t width = 0, height = 0;
  TIFFGetField(tiff, TIFFTAG_IMAGEWIDTH, &width);
  TIFFGetField(tiff, TIFFTAG_IMAGELENGTH, &height);
  return CheckSize({height, width}, name);
}

// 1 to 8, as TIFF 6.0 numbers them: 5 and above exchange rows and columns.
int OrientationOf(TIFF* tiff) {
  uint16_t orientation = ORIENTATION_TOPLEFT;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_ORIENTATION, &orientation);
  return orientation >= 1 && orientation <= 8 ? orientation : ORIENTATION_TOPLEFT;
}

ImageSize Turned(ImageSize size, int orientation) {
  return orientation < 5 ? size : ImageSize{size.width, size.height};
}

// Whether the colours are multiplied by alpha. libtiff is then told of no alpha, since it would
// multiply by one that is not yet in the colours.
bool ForgetAlpha(TIFF* tiff) {
  uint16_t count = 0, photometric = 0;
  const uint16_t* kinds = nullptr;
  TIFFGetFieldDefaulted(tiff, TIFFTAG_EXTRASAMPLES, &count, &kinds);
  TIFFGetField(tiff, TIFFTAG_PHOTOMETRIC, &photometric);
  if (count == 0) return false;
  const bool multiplied = kinds[0] == EXTRASAMPLE_ASSOCALPHA && photometric == PHOTOMETRIC_RGB;
  const std::vector<uint16_t> unspecified(count, EXTRASAMPLE_UNSPECIFIED);
  TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, count, unspecified.data());
  return multiplied;
}

// One pixel of libtiff's raster to RGB.
void PutPixel(uint32_t pixel, bool multiplied, uint8_t* out) {
  const uint32_t alpha = multiplied ? TIFFGetA(pixel) : 255;
  const std::array<uint32_t, 3> colours{TIFFGetR(pixel), TIFFGetG(pixel), TIFFGetB(pixel)};
  for (const uint32_t colour : colours)
    *out++ = static_cast<uint8_t>(alpha == 0 ? 0 : std::min<uint32_t>(255, colour * 255 / alpha));
}

Tensor ToImage(const uint32_t* raster, ImageSize stored, int orientation, bool multiplied) {
  const auto [height, width] = Turned(stored, orientation);
  Tensor image({height, width, 3}, DType::kU8);
  uint8_t* out = image.mutable_data<uint8_t>();
  const bool from_below =
      orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7;
  const bool from_right =
      orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8;
  for (int64_t y = 0; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x, out += 3) {
      int64_t row = orientation < 5 ? y : x, column = orientation < 5 ? x : y;
      if (from_below) row = stored.height - 1 - row;
      if (from_right) column = stored.width - 1 - column;
      PutPixel(raster[row * stored.width + column], multiplied, out);
    }
  }
  return image;
}

}  // namespace

bool IsTiff(Bytes bytes) {
  if (bytes.size() < 4) return false;
  const std::string_view begin(reinterpret_cast<const char*>(bytes.data()), 4);
  using std::string_view_literals::operator""sv;
  return begin == "II*\0"sv || begin == "MM\0*"sv || begin == "II+\0"sv || begin == "MM\0+"sv;
}

bool HasMorePages(Bytes bytes, const std::string& name) {
  Source source{bytes};
  return TIFFLastDirectory(Open(source, name).get()) == 0;
}

ImageSize TiffSize(Bytes bytes, const std::string& name) {
  Source source{bytes};
  const Handle tiff = Open(source, name);
  return Turned(StoredSize(tiff.get(), name), OrientationOf(tiff.get()));
}

Tensor DecodeTiff(Bytes bytes, const std::string& name) {
  Source source{bytes};
  const Handle tiff = Open(source, name);
  const ImageSize size = StoredSize(tiff.get(), name);
  const int orientation = OrientationOf(tiff.get());
  TIFFSetField(tiff.get(), TIFFTAG_ORIENTATION, ORIENTATION_TOPLEFT);
  const bool multiplied = ForgetAlpha(tiff.get());
  // Not written before libtiff has pixels for it: a size may be a mere claim.
  const auto raster =
      std::make_unique_for_overwrite<uint32_t[]>(static_cast<size_t>(size.height * size.width));
  const int ok = TIFFReadRGBAImageOriented(tiff.get(), static_cast<uint32_t>(size.width),
                                           static_cast<uint32_t>(size.height), raster.get(),
                                           ORIENTATION_TOPLEFT, /*stop_on_error=*/1);
  if (ok == 0 || !source.error.empty()) Refuse(source, name);
  return ToImage(raster.get(), size, orientation, multiplied);
}

}  // namespace torus::data
