#include "data/datasets/idx.h"

#include <gtest/gtest.h>

#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

Bytes TwoImages() {
  Bytes bytes = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 3};
  for (uint8_t i = 0; i < 12; ++i) bytes.push_back(10 + i);
  return bytes;
}

std::string Written(const Bytes& bytes) { return WriteFile(TestFolder(), "x-idx3-ubyte", bytes); }

TEST(ReadIdx, GivesShapeAndElements) {
  for (const Bytes& bytes : {TwoImages(), Gzip(TwoImages())}) {
    const Tensor images = ReadIdx(Written(bytes), 3);
    EXPECT_EQ(images.shape(), (Shape{2, 2, 3}));
    EXPECT_EQ(ToVector<uint8_t>(images), (Bytes{10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21}));
  }
}

TEST(ReadIdx, NoticesEveryTruncationAndSurplus) {
  const Bytes whole = TwoImages();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string path = Written(Bytes(whole.begin(), whole.begin() + size));
    ExpectBadInput([&] { ReadIdx(path, 3); }, path,
                   size < 16 ? fmt::format("header of 16 bytes, got {} bytes", size)
                             : fmt::format("(2, 2, 3), got {} bytes", size - 16));
  }
  Bytes surplus = whole;
  surplus.push_back(0);
  const std::string path = Written(surplus);
  ExpectBadInput([&] { ReadIdx(path, 3); }, path, "(2, 2, 3), got 13 bytes");
}

// A changed header byte either breaks the magic number or makes the sizes disagree with the bytes.
TEST(ReadIdx, NoticesEveryDamagedHeaderByte) {
  for (size_t at = 0; at < 16; ++at) {
    for (const int flip : {0x01, 0x80, 0xff}) {
      Bytes damaged = TwoImages();
      damaged[at] ^= static_cast<uint8_t>(flip);
      const std::string path = Written(damaged);
      ExpectBadInput([&] { ReadIdx(path, 3); }, path,
                     at < 4 ? "magic number" : "one byte an element");
    }
  }
}

TEST(ReadIdx, RefusesSizesWhoseProductOverflows) {
  // 2^31 * 2^31 * 4 = 2^64, which is 0 in 64 bits.
  const std::string path = Written({0, 0, 8, 3, 0x80, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 4});
  ExpectBadInput([&] { ReadIdx(path, 3); }, path, "got 0 bytes");
}

TEST(ReadIdx, NamesTheMagicNumberThatCame) {
  const std::string path = Written({0, 0, 8, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  EXPECT_EQ(MessageOf<BadInput>([&] { ReadIdx(path, 3); }),
            "[" + path +
                "] requires the IDX magic number 0x00000803 (unsigned bytes, 3 "
                "dimensions), got 0x00000801");
}

TEST(ReadIdx, NamesAFolderAndAMissingFile) {
  const std::string dir = TestFolder();
  ExpectBadInput([&] { ReadIdx(dir, 3); }, dir, "regular file");
  ExpectBadInput([&] { ReadIdx(dir + "/none", 3); }, dir + "/none", "No such file");
}

}  // namespace
}  // namespace torus::data
