// The PNG and PNM test images of TORUS_DATA, held against what Pillow reads from them.

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "data/files/file.h"
#include "data/images/decode.h"
#include "data/images/resize.h"
#include "runtime/io/safetensors.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

struct Golden {
  std::string path;
  bool refused = false;
  int64_t height = 0, width = 0;
  uint32_t crc = 0;
};

std::vector<Golden> ReadGolden() {
  std::ifstream file("tests/golden/images_pillow.tsv");
  std::vector<Golden> all;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Golden golden;
    words >> golden.path >> golden.height;
    golden.refused = words.fail();
    words >> golden.width >> std::hex >> golden.crc;
    all.push_back(golden);
  }
  return all;
}

// The first of the files below a folder, by name.
std::string FirstFile(const std::string& folder) {
  std::string first;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (entry.is_regular_file() && (first.empty() || path < first)) first = path;
  }
  return first;
}

class RealImages : public testing::Test {
 protected:
  void SetUp() override {
    const char* const data = std::getenv("TORUS_DATA");
    if (data == nullptr || *data == '\0') GTEST_SKIP() << "TORUS_DATA is not set";
    folder_ = std::string(data) + "/images/";
  }
  std::string folder_;
};

uint32_t Crc(const Tensor& image) {
  return static_cast<uint32_t>(
      crc32(0, static_cast<const Bytef*>(image.raw()), static_cast<uInt>(image.bytes())));
}

bool Holds(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

// Ours alone refuses a PNG whose pixels have a wrong check sum.
bool OnlyOursRefuses(const std::string& path) { return Holds(path, "corrupt/xcsn0g01.png"); }

// Ours alone reads what Apple's tools made of a PNG.
bool OnlyOursReads(const std::string& path) { return Holds(path, "/iphone/"); }

TEST_F(RealImages, AgreeWithPillow) {
  int agreed = 0;
  for (const Golden& golden : ReadGolden()) {
    if (golden.refused || OnlyOursRefuses(golden.path)) continue;
    SCOPED_TRACE(golden.path);
    const Tensor image = ReadImage(folder_ + golden.path);
    EXPECT_EQ(image.shape(), (Shape{golden.height, golden.width, 3}));
    EXPECT_EQ(Crc(image), golden.crc);
    ++agreed;
  }
  EXPECT_EQ(agreed, 243);
}

TEST_F(RealImages, DamagedOnesAreRefused) {
  int refused = 0;
  for (const Golden& golden : ReadGolden()) {
    if (!OnlyOursRefuses(golden.path) && (!golden.refused || OnlyOursReads(golden.path))) continue;
    const std::string path = folder_ + golden.path;
    ExpectBadInput([&] { ReadImage(path); }, path, "requires");
    ++refused;
  }
  EXPECT_EQ(refused, 14);
}

// Each is one of the suite's images as Apple's tools store it.
TEST_F(RealImages, ApplesArePlainAgain) {
  const std::string suite = folder_ + "stb/tests/pngsuite/";
  for (const std::string name : {"basi0g01", "basi0g02", "basi3p02", "z06n2c08"}) {
    EXPECT_EQ(Crc(ReadImage(suite + "iphone/iphone_" + name + ".png")),
              Crc(ReadImage(suite + "primary/" + name + ".png")))
        << name;
  }
}

// No prefix of a file is taken for the image, as far as pixels are missing: PNGs end with a chunk
// of twelve bytes without pixels, JPEGs with a marker of two bytes.
TEST_F(RealImages, TruncatedOnesAreRefused) {
  const std::string data = folder_ + "../";
  for (const char* const name :
       {"images/stb/tests/pngsuite/primary/basn3p08.png",
        "images/stb/tests/pngsuite/primary/basi6a08.png", "food101_64/sample/val"}) {
    std::string path = data + name;
    if (std::filesystem::is_directory(path)) path = FirstFile(path);
    const Bytes whole = ReadFile(path);
    ASSERT_GT(DecodeImage(whole, path).numel(), 0);
    const size_t end = path.ends_with(".png") ? 12 : 2;
    for (size_t size = 0; size + end < whole.size(); size += 7) {
      ExpectBadInput([&] { DecodeImage(Bytes(whole.begin(), whole.begin() + size), path); }, path,
                     "requires");
    }
  }
}

// Every photograph of the sample, without its end marker and without the last byte of its pixels.
TEST_F(RealImages, JpegsNeedTheirPixelsAndNoEndMarker) {
  int photographs = 0;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(folder_ + "../food101_64/sample/val")) {
    if (!entry.is_regular_file()) continue;
    const std::string path = entry.path();
    SCOPED_TRACE(path);
    Bytes bytes = ReadFile(path);
    const uint32_t crc = Crc(DecodeImage(bytes, path));
    bytes.erase(bytes.end() - 2, bytes.end());
    EXPECT_EQ(Crc(DecodeImage(bytes, path)), crc);
    bytes.pop_back();
    ExpectBadInput([&] { DecodeImage(bytes, path); }, path, "before its last pixels");
    ++photographs;
  }
  EXPECT_EQ(photographs, 200);
}

// Decoded and resized by Pillow: the input of the golden logits, bit for bit.
TEST_F(RealImages, PhotographsBecomeTheInputOfTheGoldenLogits) {
  int photographs = 0;
  const std::string folder = folder_ + "../weights/mobilenet_v2/test_images";
  const auto golden = ReadSafetensors("tests/golden/mobilenet_photos.safetensors").metadata;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const Tensor image = Resize(ReadImage(entry.path().string()), 224, 224);
    const std::string stem = entry.path().stem().string();
    EXPECT_EQ(fmt::format("{:08x}", Crc(image)), golden.at("crc." + stem)) << stem;
    ++photographs;
  }
  EXPECT_EQ(photographs, 10);
}

}  // namespace
}  // namespace torus::data
