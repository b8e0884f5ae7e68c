#include <gtest/gtest.h>

#include "data/files/file.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

Bytes Ramp(size_t count) {
  Bytes bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<uint8_t>(i * i / 7);
  return bytes;
}

TEST(Gunzip, UndoesGzipOfAnyLength) {
  for (const size_t count : {0, 1, 1000, 100000}) {
    EXPECT_EQ(Gunzip(Gzip(Ramp(count)), "x.gz"), Ramp(count));
  }
  const Bytes zeros(3000000);  // packs a thousandfold: the output grows several times
  EXPECT_EQ(Gunzip(Gzip(zeros), "x.gz"), zeros);
}

TEST(Gunzip, NoticesEveryTruncation) {
  const Bytes whole = Gzip(Ramp(300));
  for (size_t size = 2; size < whole.size(); ++size) {
    ExpectBadInput([&] { Gunzip(Bytes(whole.begin(), whole.begin() + size), "x.gz"); }, "[x.gz]",
                   "an early end");
  }
}

// A flipped bit is noticed, or does not matter (the header's time stamp and system, bits that fill
// up a byte): it never gives other bytes.
TEST(Gunzip, NeverGivesOtherBytes) {
  const Bytes plain = Ramp(300), whole = Gzip(plain);
  size_t noticed = 0;
  for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    Bytes damaged = whole;
    damaged[bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
    try {
      EXPECT_TRUE(Gunzip(damaged, "x.gz") == plain) << "bit " << bit;
    } catch (const BadInput&) {
      ++noticed;
    }
  }
  EXPECT_GE(noticed, 8 * (whole.size() - 12));
}

TEST(Gunzip, NoticesSurplusBytes) {
  Bytes bytes = Gzip(Ramp(10));
  bytes.insert(bytes.end(), {1, 2, 3});
  ExpectBadInput([&] { Gunzip(bytes, "x.gz"); }, "[x.gz]", "3 surplus bytes");
}

TEST(Gunzip, StopsAtTheMostThatItMayGive) {
  const Bytes bomb = Gzip(Bytes(1000000));
  ExpectBadInput([&] { Gunzip(bomb, "x.gz", 999999); }, "[x.gz]", "at most 999999 bytes, got more");
  EXPECT_EQ(Gunzip(bomb, "x.gz", 1000000).size(), 1000000u);
}

TEST(Gunzip, RefusesWhatIsNoGzip) {
  ExpectBadInput([] { Gunzip(Bytes{1, 2, 3}, "x.gz"); }, "[x.gz]", "3 bytes of something else");
}

TEST(ReadFileMaybeGzip, ReadsBoth) {
  const std::string dir = TestFolder();
  EXPECT_EQ(ReadFileMaybeGzip(WriteFile(dir, "a", Ramp(50))), Ramp(50));
  EXPECT_EQ(ReadFileMaybeGzip(WriteFile(dir, "b", Gzip(Ramp(50)))), Ramp(50));
  EXPECT_EQ(ReadFileMaybeGzip(WriteFile(dir, "c", {})), Bytes{});
}

TEST(ReadFileMaybeGzip, NamesAFileThatIsNotThere) {
  const std::string path = TestFolder() + "/none";
  ExpectBadInput([&] { ReadFileMaybeGzip(path); }, path, "No such file");
}

}  // namespace
}  // namespace torus::data
