#include "data/text/token_file.h"

#include <gtest/gtest.h>

#include "data/files/file.h"
#include "data/text/byte_tokenizer.h"
#include "data/text/char_tokenizer.h"
#include "tests/data/temp_file.h"

namespace torus::data {
namespace {

std::vector<int64_t> All(const Tokens& tokens) {
  std::vector<int64_t> ids(tokens.size());
  tokens.Copy(0, tokens.size(), ids.data());
  return ids;
}

TEST(TokenFile, ComesBackInAnyWidth) {
  const std::string dir = TestFolder();
  for (const int64_t vocabulary : {256, 257, 65536, 65537}) {
    const auto last = static_cast<int32_t>(vocabulary - 1);
    const std::string path = fmt::format("{}/{}", dir, vocabulary);
    const TokenOrigin origin{"gpt2", "", vocabulary};
    WriteTokenFile(path, origin, std::vector<int32_t>{0, last, 7});
    const TokenFile file(path);
    EXPECT_EQ(file.origin(), origin);
    EXPECT_EQ(All(file), (std::vector<int64_t>{0, last, 7}));
    const int width = vocabulary <= 256 ? 1 : vocabulary <= 65536 ? 2 : 4;
    EXPECT_EQ(ReadFile(path).size(), 64u + 3 * width);
  }
}

TEST(TokenFile, BringsItsAlphabetAlong) {
  const CharTokenizer chars = CharTokenizer::Of(std::string(70, 'x').append("éy"), "x");
  const std::string path = TestFolder() + "/t";
  WriteTokenFile(path, OriginOf(chars), chars.Encode("éyx"));
  const TokenFile file(path);
  EXPECT_EQ(CharTokenizer(file.origin().alphabet).vocabulary(), 3);
  EXPECT_EQ(All(file), (std::vector<int64_t>{2, 1, 0}));
  EXPECT_EQ(OriginOf(ByteTokenizer()), (TokenOrigin{"bytes", "", 256}));
}

TEST(TokenFile, RefusesRangesAndTokensBeyondItsOwn) {
  const std::string dir = TestFolder(), path = dir + "/t";
  WriteTokenFile(path, {"bytes", "", 100}, std::vector<int32_t>{1, 2, 99});
  const TokenFile file(path);
  int64_t out[4];
  file.Copy(3, 0, out);
  for (const auto& [begin, count] : {std::pair{0, 4}, {3, 1}, {4, 0}, {-1, 1}, {0, -1}}) {
    ExpectBadInput([&, b = begin, c = count] { file.Copy(b, c, out); }, path, "within 3 tokens");
  }
  Bytes bytes = ReadFile(path);
  bytes.back() = 100;
  const TokenFile bad(WriteFile(dir, "bad", bytes));
  bad.Copy(0, 2, out);
  ExpectBadInput([&] { bad.Copy(1, 2, out); }, dir + "/bad", "0 to 99, got another at token 2");
  ExpectBadInput(
      [&] {
        WriteTokenFile(path, {"bytes", "", 9}, std::vector<int32_t>{9});
      },
      path, "0 to 8, got 9");
}

// Each damage of the header is refused by what it says; nothing is read beyond the file.
TEST(TokenFile, RefusesADamagedHeader) {
  const std::string dir = TestFolder(), path = dir + "/t";
  WriteTokenFile(path, {"gpt2", "", 50257}, std::vector<int32_t>{1, 2, 3});
  const Bytes whole = ReadFile(path);
  const auto expect = [&](size_t at, uint8_t value, const std::string& words) {
    Bytes bytes = whole;
    bytes[at] = value;
    const std::string bad = WriteFile(dir, "bad", bytes);
    ExpectBadInput([&] { TokenFile{bad}; }, bad, words);
  };
  expect(0, 't', "begins with TorusTok");
  expect(8, 2, "version 1 of the format, got 2");
  expect(12, 4, "2 bytes a token of a vocabulary of 50257, got 4");
  expect(16, 4, "requires 4 tokens of 2 bytes");
  expect(23, 0xff, "requires 18374686479671623683 tokens");
  expect(31, 1, "a vocabulary of 1 to 2147483648");
  expect(35, 0xff, "from offset");
  expect(39, 0xff, "from offset");
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string bad =
        WriteFile(dir, "bad", Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
    ExpectBadInput([&] { TokenFile{bad}; }, bad, "requires");
  }
  ExpectBadInput([&] { TokenFile{dir}; }, dir, "a regular file");
  ExpectBadInput([&] { TokenFile{dir + "/none"}; }, dir + "/none", "No such file");
}

TEST(TokenShards, AreOneText) {
  const std::string dir = TestFolder();
  const TokenOrigin origin{"bytes", "", 256};
  WriteTokenFile(TokenShardPath(dir, "train", 0), origin, std::vector<int32_t>{1, 2, 3});
  WriteTokenFile(TokenShardPath(dir, "train", 1), origin, std::vector<int32_t>{});
  WriteTokenFile(TokenShardPath(dir, "train", 2), origin, std::vector<int32_t>{4, 5});
  const TokenShards shards(dir, "train");
  EXPECT_EQ(All(shards), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  for (int begin = 0; begin <= 5; ++begin) {
    for (int count = 0; begin + count <= 5; ++count) {
      std::vector<int64_t> ids(count), want(count);
      for (int i = 0; i < count; ++i) want[i] = begin + i + 1;
      shards.Copy(begin, count, ids.data());
      ASSERT_EQ(ids, want) << begin << " " << count;
    }
  }
  int64_t out[6];
  ExpectBadInput([&] { shards.Copy(1, 5, out); }, dir + "/train", "within 5 tokens");
  WriteTokenFile(TokenShardPath(dir, "train", 3), {"chars", "ab", 2}, std::vector<int32_t>{0});
  ExpectBadInput([&] { TokenShards(dir, "train"); }, "train-00003.tokens",
                 "bytes of 256 tokens, got chars of 2");
  ExpectBadInput(
      [&] { TokenShards(dir, "validation"); }, dir,
      "must hold token files as tools/tokenize writes them, validation-00000.tokens and");
}

TEST(TokenShards, HaveNoGap) {
  const std::string dir = TestFolder();
  const auto path = [&](int number) { return TokenShardPath(dir, "train", number); };
  for (const int number : {0, 1, 2, 100000})
    WriteTokenFile(path(number), {"bytes", "", 256}, std::vector<int32_t>{number % 7});
  // These are none of them.
  for (const char* const name :
       {"train-00004.tokens.part", "train-4.tokens", "training-00004.tokens", "train--0004.tokens"})
    WriteText(dir, name, "x");
  ExpectBadInput([&] { TokenShards(dir, "train"); }, dir + "/train-00003.tokens",
                 "before " + dir + "/train-100000.tokens, got none");
  std::filesystem::remove(path(100000));
  EXPECT_EQ(All(TokenShards(dir, "train")), (std::vector<int64_t>{0, 1, 2}));
  std::filesystem::remove(path(1));
  ExpectBadInput([&] { TokenShards(dir, "train"); }, path(1), "before " + path(2) + ", got none");
  std::filesystem::remove(path(0));
  ExpectBadInput([&] { TokenShards(dir, "train"); }, path(0), "before " + path(2) + ", got none");
  ExpectBadInput([&] { TokenShards(dir + "/none", "train"); }, dir + "/none", "cannot be listed");
}

}  // namespace
}  // namespace torus::data
