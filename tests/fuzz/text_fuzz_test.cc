#include <gtest/gtest.h>

#include "data/text/bpe_tokenizer.h"
#include "tests/fuzz/targets.h"
#include "tests/fuzz/text_seeds.h"

namespace torus::fuzz {
namespace {

class Texts : public ::testing::TestWithParam<Target> {};

TEST_P(Texts, AreReadOrRefused) { RunFuzz(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Fuzz, Texts, ::testing::ValuesIn(TextTargets()), NameOf);

// Nothing is refused here, so RunFuzz does not fit: encode and decode must give the input back.
TEST(Fuzz, TokenizerGivesAnyBytesBack) {
  const data::Merges merges(kMerges, "merges");
  const data::BpeTokenizer tokenizer(
      {"small",
       merges,
       data::Vocabulary(data::ParseVocabularyJson(VocabularyJson(), "vocab"), merges, "vocab"),
       {}});
  const Bytes one = BytesOf("the thing's caf\xc3\xa9 \xe2\x80\x83 1234 !?\n\n in"), other(40, 0xf0);
  for (uint64_t n = 0; n < 3000; ++n) {
    const Bytes bytes = Mutator(n).Mutate(one, other);
    const std::string text(bytes.begin(), bytes.end());
    std::vector<int32_t> ids;
    tokenizer.Encode(text, &ids);
    ASSERT_EQ(tokenizer.Decode(ids), text) << "input " << n;
  }
}

}  // namespace
}  // namespace torus::fuzz
