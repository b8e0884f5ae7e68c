// GPT-2's and RoBERTa's tokens of the texts of TORUS_DATA, of 10,000 random strings and of every
// code point of Unicode 14, held against the reference's (make_bpe.py).

#include <gtest/gtest.h>
#include <zlib.h>

#include <fstream>
#include <sstream>
#include <thread>

#include "data/files/file.h"
#include "data/text/open_tokenizer.h"
#include "data/text/utf8.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/tokenizer_json.h"
#include "tests/data/text/unicode14.h"

namespace torus::data {
namespace {

constexpr char32_t kPrivatePlanes = 0xF0000;  // only private code points from here on

struct Golden {
  std::string what;
  size_t counts[2] = {};
  uint32_t crcs[2] = {}, text_crc = 0;
};

Golden ReadGolden(const std::string& what) {
  std::ifstream file("tests/golden/bpe.tsv");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    Golden golden;
    words >> golden.what;
    for (int k : {0, 1}) words >> std::dec >> golden.counts[k] >> std::hex >> golden.crcs[k];
    words >> golden.text_crc;
    if (golden.what == what) return golden;
  }
  ADD_FAILURE() << "no line for " << what;
  return {};
}

uint32_t Crc(uint32_t crc, const void* data, size_t bytes) {
  return static_cast<uint32_t>(
      crc32(crc, static_cast<const Bytef*>(data), static_cast<uInt>(bytes)));
}

class BpeGolden : public testing::Test {
 protected:
  void SetUp() override {
    const char* const data = std::getenv("TORUS_DATA");
    if (data == nullptr || *data == '\0') GTEST_SKIP() << "TORUS_DATA is not set";
    folder_ = data;
    static const std::shared_ptr<BpeTokenizer> opened[2] = {
        OpenGpt2(folder_ + "/bpe_gpt2_roberta"), OpenRoberta(folder_ + "/bpe_gpt2_roberta")};
    for (int k : {0, 1}) tokenizers_[k] = opened[k];
  }

  // Encodes a text with both, checks that it comes back, and adds to the sums.
  void Add(const std::string& text, bool end) {
    sums_.text_crc = Crc(sums_.text_crc, text.data(), text.size());
    for (int k : {0, 1}) {
      std::vector<int32_t> ids = tokenizers_[k]->Encode(text);
      ASSERT_EQ(tokenizers_[k]->Decode(ids), text);
      sums_.counts[k] += ids.size();
      if (end) ids.push_back(-1);
      sums_.crcs[k] = Crc(sums_.crcs[k], ids.data(), ids.size() * sizeof(int32_t));
    }
  }

  void ExpectGolden(const std::string& what) {
    const Golden golden = ReadGolden(what);
    ASSERT_EQ(sums_.text_crc, golden.text_crc) << "another text";
    for (int k : {0, 1}) {
      EXPECT_EQ(sums_.counts[k], golden.counts[k]);
      EXPECT_EQ(sums_.crcs[k], golden.crcs[k]);
    }
  }

  std::string folder_;
  std::shared_ptr<BpeTokenizer> tokenizers_[2];
  Golden sums_;
};

TEST_F(BpeGolden, OfTheTexts) {
  for (const std::string name : {"tinyshakespeare.txt", "kjv.txt"}) {
    SCOPED_TRACE(name);
    const Bytes bytes = ReadFile(folder_ + "/text/" + name);
    sums_ = {};
    Add({bytes.begin(), bytes.end()}, false);
    ExpectGolden(name);
  }
}

TEST_F(BpeGolden, OfTenThousandRandomStrings) {
  const Unicode14 unicode;
  SplitMix64 random(14);
  for (int i = 0; i < 10000; ++i) Add(RandomString(unicode, &random), true);
  ExpectGolden("random");
}

TEST_F(BpeGolden, OfEveryCodePoint) {
  const Unicode14 unicode;
  for (const auto& [first, last] : unicode.ranges()) {
    for (char32_t value = first; value <= last && value < kPrivatePlanes; ++value) {
      std::string point;
      AppendUtf8(value, &point);
      Add(fmt::format("a{0}{0}1 {0} b", point), true);
    }
  }
  ExpectGolden("points");
}

// fairseq's own files give the numbers of the derived vocabulary.
TEST_F(BpeGolden, FairseqsDictionaryGivesRobertasNumbers) {
  const std::string dir = TestFolder(), from = folder_ + "/bpe_gpt2_roberta/";
  for (const char* name : {"dict.txt", "encoder.json", "vocab.bpe"})
    std::filesystem::create_symlink(from + name, dir + "/" + name);
  const auto fairseq = OpenRoberta(dir);
  ASSERT_EQ(fairseq->vocabulary(), 50265);
  for (int32_t id = 0; id < 50265; ++id) {
    ASSERT_EQ(fairseq->Decode({&id, 1}), tokenizers_[1]->Decode({&id, 1}));
  }
  EXPECT_EQ(fairseq->Special("<mask>"), 50264);
}

TEST_F(BpeGolden, TokenizerJsonGivesTheSameNumbers) {
  const std::string from = folder_ + "/bpe_gpt2_roberta/", dir = TestFolder();
  const auto write = [&](const char* vocabulary, MergesAs form,
                         const std::vector<std::string>& added) {
    WriteText(dir, "tokenizer.json",
              BpeTokenizerJson(from + vocabulary, from + "vocab.bpe", form, added).dump());
  };
  write("encoder.json", MergesAs::kStrings, {"<|endoftext|>"});
  tokenizers_[0] = OpenGpt2(dir);
  write("roberta_vocab.json", MergesAs::kPairs, {"<s>", "<pad>", "</s>", "<unk>", "<mask>"});
  tokenizers_[1] = OpenRoberta(dir);
  const Bytes bytes = ReadFile(folder_ + "/text/tinyshakespeare.txt");
  Add({bytes.begin(), bytes.end()}, false);
  ExpectGolden("tinyshakespeare.txt");
  sums_ = {};
  const Unicode14 unicode;
  SplitMix64 random(14);
  for (int i = 0; i < 10000; ++i) Add(RandomString(unicode, &random), true);
  ExpectGolden("random");
}

// Pieces of any length, and bytes that are not UTF-8, come back; none takes long.
TEST_F(BpeGolden, AnyBytesComeBack) {
  SplitMix64 random(15);
  std::string noise;
  for (int i = 0; i < 200'000; ++i) noise.push_back(static_cast<char>(random.Below(256)));
  const size_t long_one = 1 << 18;
  for (const std::string& text :
       {noise, std::string(long_one, 'a'), std::string(long_one, ' '), std::string(long_one, '\n'),
        std::string(long_one, '\xff'), std::string(long_one, '\0'), std::string("a\xc3")}) {
    for (const auto& tokenizer : tokenizers_) {
      ASSERT_TRUE(tokenizer->Decode(tokenizer->Encode(text)) == text);
    }
  }
}

// A thread that finds the cache in use does without.
TEST_F(BpeGolden, ThreadsGetTheSameNumbers) {
  const Bytes bytes = ReadFile(folder_ + "/text/tinyshakespeare.txt");
  const std::string text(bytes.begin(), bytes.begin() + 50'000);
  const std::vector<int32_t> want = tokenizers_[0]->Encode(text);
  std::vector<std::vector<int32_t>> got(4);
  std::vector<std::thread> threads;
  for (auto& ids : got) threads.emplace_back([&] { ids = tokenizers_[0]->Encode(text); });
  for (std::thread& thread : threads) thread.join();
  for (const auto& ids : got) EXPECT_TRUE(ids == want);
}

}  // namespace
}  // namespace torus::data
