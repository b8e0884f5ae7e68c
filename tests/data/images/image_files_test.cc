// Files as other programs write them, held against what Pillow reads from them
// (tests/golden/make_image_files.py).

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "data/images/decode.h"
#include "runtime/io/safetensors.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

struct File {
  Bytes bytes;
  Tensor pixels;
};

const std::map<std::string, File>& Files() {
  static const std::map<std::string, File> files = [] {
    std::map<std::string, File> all;
    for (const NamedTensor& tensor :
         ReadSafetensors("tests/golden/image_files.safetensors").tensors) {
      const bool pixels = tensor.name.ends_with(".rgb");
      File& file = all[tensor.name.substr(0, tensor.name.size() - (pixels ? 4 : 0))];
      if (pixels)
        file.pixels = tensor.value;
      else
        file.bytes = ToVector<uint8_t>(tensor.value);
    }
    return all;
  }();
  return files;
}

// Levels by which a pixel may differ. What libtiff makes of a JPEG's components rounds each of them
// by up to one level, and going from YCbCr to RGB adds two of them, one times 1.77. It truncates
// CMYK where Pillow rounds, and keeps the upper byte of grey.
int Tolerance(const std::string& name) {
  if (name == "tiff.jpeg") return 4;
  return name == "tiff.cmyk" || name == "tiff.grey16" ? 1 : 0;
}

int MostDifference(const Tensor& a, const Tensor& b) {
  const Bytes left = ToVector<uint8_t>(a), right = ToVector<uint8_t>(b);
  int most = 0;
  for (size_t i = 0; i < left.size(); ++i) most = std::max(most, std::abs(left[i] - right[i]));
  return most;
}

TEST(ImageFiles, AreReadAsPillowReadsThem) {
  EXPECT_EQ(Files().size(), 60u);
  for (const auto& [name, file] : Files()) {
    SCOPED_TRACE(name);
    // The content says what it is.
    const Tensor image = DecodeImage(file.bytes, "x.jpg");
    ASSERT_EQ(image.shape(), file.pixels.shape());
    EXPECT_LE(MostDifference(image, file.pixels), Tolerance(name));
    const ImageSize size = CheckImage(file.bytes, "x.jpg");
    EXPECT_EQ((Shape{size.height, size.width, 3}), image.shape());
  }
}

TEST(ImageFiles, SayWhetherThereIsMoreThanOneFrame) {
  const std::set<std::string> several{"webp.animated", "tiff.pages", "gif.animated"};
  for (const auto& [name, file] : Files())
    EXPECT_EQ(HasMoreFrames(file.bytes, "x"), several.contains(name)) << name;
}

// What is left of a file is refused, unless it still has all its pixels.
TEST(ImageFiles, AreNeverReadInPart) {
  for (const auto& [name, file] : Files()) {
    if (name == "pnm.p2" || name.starts_with("pnm.p3")) continue;  // 25 may be what is left of 255
    SCOPED_TRACE(name);
    const Tensor whole = DecodeImage(file.bytes, "x");
    int refused = 0;
    for (size_t size = 0; size < file.bytes.size(); ++size) {
      try {
        const Tensor image = DecodeImage({file.bytes.data(), size}, "x");
        ASSERT_EQ(MostDifference(image, whole), 0) << size << " of " << file.bytes.size();
      } catch (const BadInput&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, 0);
  }
}

TEST(ImageFiles, AreRefusedWithTheLibrarysReason) {
  const auto cut = [](const char* name) {
    Bytes bytes = Files().at(name).bytes;
    bytes.resize(bytes.size() / 2);
    return bytes;
  };
  ExpectBadInput([&] { DecodeImage(cut("webp.lossy"), "x.webp"); }, "[x.webp]", "damaged WebP of");
  ExpectBadInput([&] { DecodeImage(cut("tiff.tiff_lzw"), "x.tif"); }, "[x.tif]", "got a TIFF of");
  ExpectBadInput([&] { DecodeImage(cut("gif.plain"), "x.gif"); }, "[x.gif]", "a whole image");
}

}  // namespace
}  // namespace torus::data
