#include "data/images/decode.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <string>

#include "tests/data/temp_file.h"
#include "tests/fuzz/image_seeds.h"

namespace torus::data {
namespace {

Bytes BytesOf(const std::string& text) {
  Bytes bytes;
  for (const char c : text) bytes.push_back(static_cast<uint8_t>(c));
  return bytes;
}

Bytes Colours() {
  Bytes bytes = BytesOf("P6\n2 1\n255\n");
  for (const uint8_t byte : {255, 0, 7, 1, 2, 3}) bytes.push_back(byte);
  return bytes;
}

// A BMP header of 24 bits a pixel and the given size, without pixels.
Bytes Bmp(int32_t width, int32_t height) {
  Bytes bytes(54);
  const auto put = [&](size_t at, uint32_t value) {
    for (int i = 0; i < 4; ++i) bytes[at + i] = static_cast<uint8_t>(value >> 8 * i);
  };
  bytes[0] = 'B';
  bytes[1] = 'M';
  put(10, 54);  // where the pixels begin
  put(14, 40);  // size of the information header
  put(18, static_cast<uint32_t>(width));
  put(22, static_cast<uint32_t>(height));
  put(26, 24u << 16 | 1u);  // bits a pixel, planes
  return bytes;
}

TEST(DecodeImage, GivesRedGreenBlueRowByRow) {
  const Tensor image = DecodeImage(Colours(), "x.ppm");
  EXPECT_EQ(image.shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(ToVector<uint8_t>(image), (Bytes{255, 0, 7, 1, 2, 3}));
}

TEST(DecodeImage, RepeatsGrey) {
  const Tensor image = DecodeImage(BytesOf("P5 1 2 255 ab"), "x.pgm");
  EXPECT_EQ(ToVector<uint8_t>(image), (Bytes{'a', 'a', 'a', 'b', 'b', 'b'}));
}

TEST(DecodeImage, ReadsBmpFromBelowWithBlueFirst) {
  Bytes bytes = Bmp(1, 2);
  for (const uint8_t byte : {1, 2, 3, 0, 4, 5, 6, 0}) bytes.push_back(byte);  // rows padded to 4
  EXPECT_EQ(ToVector<uint8_t>(DecodeImage(bytes, "x.bmp")), (Bytes{6, 5, 4, 3, 2, 1}));
}

TEST(DecodeImage, NamesTheFileAndTheReason) {
  ExpectBadInput([] { DecodeImage(BytesOf("text here"), "x.gif"); }, "[x.gif]",
                 "a JPEG, PNG, WebP, TIFF, GIF, BMP, PPM or PGM image, got 9 bytes: unknown image "
                 "type");
  ExpectBadInput([] { DecodeImage({}, "x"); }, "[x]", "got 0 bytes");
  const std::string path = WriteFile(TestFolder(), "x.ppm", BytesOf("P6\n2 1\n255\nabc"));
  ExpectBadInput([&] { ReadImage(path); }, path, "requires a whole image");
  ExpectBadInput([&] { ReadImage(path + "x"); }, path + "x", "No such file");
}

// The claim is refused before memory is taken: these would need 12 GB and more.
TEST(DecodeImage, RefusesAbsurdSizesByTheHeaderAlone) {
  ExpectBadInput([] { DecodeImage(Bmp(65536, 65536), "x.bmp"); }, "[x.bmp]", "65536 x 65536");
  ExpectBadInput([] { DecodeImage(Bmp(1 << 23, 9), "x.bmp"); }, "[x.bmp]", "9 x 8388608");
  ExpectBadInput([] { DecodeImage(BytesOf("P6 99999 99999 255 x"), "x.ppm"); }, "[x.ppm]",
                 "99999 x 99999");
}

TEST(DecodeImage, NoticesThatPixelsAreMissing) {
  Bytes bmp = Bmp(3, 2);  // rows of 12 bytes
  bmp.resize(54 + 24, 7);
  for (const Bytes& whole : {Colours(), bmp}) {
    EXPECT_GT(DecodeImage(whole, "x").numel(), 0);
    for (size_t size = 0; size < whole.size(); ++size) {
      ExpectBadInput([&] { DecodeImage(Bytes(whole.begin(), whole.begin() + size), "x"); }, "[x]",
                     "requires ");
    }
  }
}

// Ten is the largest value: 7 is 178.5, which is rounded to even.
TEST(DecodeImage, ScalesPnmToTheRangeOfAByte) {
  const auto first = [](const std::string& text) {
    return *DecodeImage(BytesOf(text), "x.pgm").data<uint8_t>();
  };
  EXPECT_EQ(first("P5 1 1 10\n\7"), 178);
  EXPECT_EQ(first("P2 1 1 10 7"), 178);
  EXPECT_EQ(first("P5 1 1 10\n\15"), 255) << "beyond the largest value";
  EXPECT_EQ(first("P5 1 1 256\n\1" + std::string(1, '\0')), 255);
  EXPECT_EQ(first("P5 1 1 65535\nab"), 'a');
}

TEST(DecodeImage, RefusesPnmOfAnotherForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"P5 1 1 65536\nabcd", "up to 65535, got 65536"},
      {"P5 1 0 255\nabcd", "three positive numbers"},
      {"P5 1 x 255\nabcd", "a number at byte 5"},
      {"P3 2 1 255\n1 2 3 4 5", "got 9 bytes for 1 x 2 pixels of 3 channels"},
      {"P3 1 1 255\n1 2 x", "a number at byte"},
      {"P2 1 1 9\n10", "values up to 9, got 10"},
      {"P4 8 1\nx", "unknown image type"}};
  for (const auto& [text, says] : cases)
    ExpectBadInput([&] { DecodeImage(BytesOf(text), "x.pgm"); }, "[x.pgm]", says);
  EXPECT_EQ(DecodeImage(BytesOf("P5 #1 #\n#\n 1 # \n 1\t255 x"), "x.pgm").numel(), 3);
}

// A whole JPEG with `segment` behind its first marker.
Bytes JpegWith(const Bytes& segment) {
  for (Bytes bytes : fuzz::ImageSeeds()) {
    if (bytes[0] != 0xFF) continue;
    bytes.insert(bytes.begin() + 2, segment.begin(), segment.end());
    return bytes;
  }
  return {};
}

// A segment of a JPEG: marker, length, content.
Bytes Segment(uint8_t marker, const Bytes& content) {
  const size_t length = content.size() + 2;
  Bytes bytes(2 + length);
  bytes[0] = 0xFF;
  bytes[1] = marker;
  bytes[2] = static_cast<uint8_t>(length >> 8);
  bytes[3] = static_cast<uint8_t>(length);
  std::ranges::copy(content, bytes.begin() + 4);
  return bytes;
}

// A Huffman table: its number, how many codes have 1 to 16 bits (255 have 8, `more` have 9), codes.
Bytes Table(uint8_t more) {
  Bytes table(1 + 16 + 255 + more);
  table[8] = 255;
  table[9] = more;
  return table;
}

constexpr uint8_t kTables = 0xC4;

TEST(DecodeImage, RefusesHuffmanTablesThatOverflow) {
  const Bytes plain = ToVector<uint8_t>(DecodeImage(JpegWith({}), "x"));
  const auto refused = [](const Bytes& bytes, const char* says) {
    ExpectBadInput([&] { DecodeImage(bytes, "x.jpg"); }, "[x.jpg]", says);
  };
  Bytes cut = Table(1), second = Table(1);
  cut.pop_back();
  second.insert(second.end(), cut.begin(), cut.begin() + 5);
  const auto with = [&](const Bytes& tables) { return JpegWith(Segment(kTables, tables)); };
  EXPECT_EQ(ToVector<uint8_t>(DecodeImage(with(Table(1)), "x")), plain);
  refused(with(Table(2)), "a damaged JPEG: Bogus Huffman table definition");
  refused(with(cut), "a damaged JPEG: Bogus Huffman table definition");
  refused(with(second), "a damaged JPEG: Bogus marker length");
  Bytes filled = with(Table(2));
  filled.insert(filled.begin() + 2, 0xFF);  // as may stand before any marker
  refused(filled, "a damaged JPEG: Bogus Huffman table definition");
}

TEST(DecodeImage, ReadsJpegWithoutItsEndMarker) {
  const Bytes whole = JpegWith({});
  const Bytes plain = ToVector<uint8_t>(DecodeImage(whole, "x"));
  for (const Bytes& end :
       {Bytes{}, Bytes{0xFF}, Bytes{0xFF, 0xFF}, Bytes{1, 2, 3}, Bytes(100), Segment(kTables, {7}),
        Bytes{0xFF, 0xFE, 0x70, 0x00, 1}, Bytes{0xFF, 0xD9, 0xFF, 0xD8}}) {
    Bytes bytes(whole.begin(), whole.end() - 2);
    bytes.insert(bytes.end(), end.begin(), end.end());
    EXPECT_EQ(ToVector<uint8_t>(DecodeImage(bytes, "x")), plain) << end.size();
  }
}

// One byte of coded data less, and one bit at least is missing.
TEST(DecodeImage, RefusesJpegWithoutItsLastPixels) {
  const Bytes whole = JpegWith({});
  for (size_t size = 0; size + 2 < whole.size(); ++size) {
    ExpectBadInput([&] { DecodeImage(Bytes(whole.begin(), whole.begin() + size), "x.jpg"); },
                   "[x.jpg]", "requires");
  }
  const Bytes cut(whole.begin(), whole.end() - 3);
  ExpectBadInput([&] { DecodeImage(cut, "x"); }, "[x]", "a JPEG that ends before its last pixels");
  Bytes ended = cut;  // whoever cut it has put the end marker there
  ended.insert(ended.end(), {0xFF, 0xD9});
  ExpectBadInput([&] { DecodeImage(ended, "x"); }, "[x]", "ends before its last pixels");
}

// The seed's frame header made a progressive one's: how many scans were to come is not known.
TEST(DecodeImage, RefusesProgressiveJpegWithoutItsEndMarker) {
  Bytes bytes = JpegWith({});
  const Bytes frame{0xFF, 0xC0, 0, 17};
  const auto at = std::ranges::search(bytes, frame).begin();
  ASSERT_NE(at, bytes.end());
  at[1] = 0xC2;
  bytes.erase(bytes.end() - 2, bytes.end());
  ExpectBadInput([&] { DecodeImage(bytes, "x"); }, "[x]", "requires a whole image");
}

// Such an image needs memory for all of its coefficients. No damage, so it is not left out.
TEST(DecodeImage, SaysThatMemoryIsLacking) {
  Bytes bytes = JpegWith({});
  const Bytes frame{0xFF, 0xC0, 0, 17};
  const auto at = std::ranges::search(bytes, frame).begin();
  ASSERT_NE(at, bytes.end());
  at[1] = 0xC2;  // progressive
  at[5] = 16;    // 4096 rows
  at[6] = 0;
  setenv("JPEGMEM", "1", 1);
  EXPECT_THROW(DecodeImage(bytes, "x"), std::bad_alloc);
  unsetenv("JPEGMEM");
}

// They are what is left of a segment whose length is wrong.
TEST(DecodeImage, RefusesBytesBetweenSegments) {
  for (const Bytes& junk : {Bytes{0}, Bytes{1, 2, 3}, Bytes{0xFF, 0x00}})
    ExpectBadInput([&] { DecodeImage(JpegWith(junk), "x"); }, "[x]", "a JPEG marker at byte 2");
}

TEST(DecodeImage, RefusesJpegWithoutPixels) {
  const Bytes whole = JpegWith({});
  const Bytes scan{0xFF, 0xDA};
  Bytes bytes(whole.begin(), std::ranges::search(whole, scan).begin());
  bytes.insert(bytes.end(), {0xFF, 0xD9});
  ExpectBadInput([&] { DecodeImage(bytes, "x"); }, "[x]", "a JPEG with pixels");
}

TEST(DecodeImage, TakesNoMetadataForHuffmanTables) {
  const Bytes plain = ToVector<uint8_t>(DecodeImage(JpegWith({}), "x"));
  for (const uint8_t marker : {0xE1, 0xED, 0xFE}) {
    const Bytes bytes = JpegWith(Segment(marker, Segment(kTables, Table(2))));
    EXPECT_EQ(ToVector<uint8_t>(DecodeImage(bytes, "x")), plain);
  }
}

// Whatever one damaged or missing byte does, it ends in an image or in BadInput.
TEST(DecodeImage, SurvivesDamage) {
  Bytes bmp = Bmp(3, 3);
  bmp.resize(54 + 36, 9);
  for (const Bytes& whole : {Colours(), bmp}) {
    int refused = 0;
    const auto decode = [&](const Bytes& bytes) {
      try {
        EXPECT_LE(DecodeImage(bytes, "x").numel(), 3 * kMostPixels);
      } catch (const BadInput&) {
        ++refused;
      }
    };
    for (size_t size = 0; size < whole.size(); ++size)
      decode({whole.begin(), whole.begin() + size});
    for (size_t at = 0; at < whole.size(); ++at) {
      for (const int flip : {0x01, 0x10, 0x80, 0xff}) {
        Bytes damaged = whole;
        damaged[at] ^= static_cast<uint8_t>(flip);
        decode(damaged);
      }
    }
    EXPECT_GT(refused, 0);
  }
}

}  // namespace
}  // namespace torus::data
