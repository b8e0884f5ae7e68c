// Special tokens, pairs and truncation, held against Hugging Face's tokenizers (make_bpe.py).

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/files/lines.h"
#include "data/text/open_tokenizer.h"
#include "data/text/pair_format.h"
#include "tests/data/temp_file.h"
#include "tests/data/text/tokenizer_json.h"

namespace torus::data {
namespace {

using Json = nlohmann::json;
using Ids = std::vector<int32_t>;

void ExpectGolden(const BpeTokenizer& gpt2, const BpeTokenizer& roberta) {
  std::ifstream file("tests/golden/bpe_cases.tsv");
  int cases = 0;
  for (std::string line; std::getline(file, line); ++cases) {
    SCOPED_TRACE(line);
    std::vector<Json> parts;
    for (const std::string_view column : Columns(line)) parts.push_back(Json::parse(column));
    const std::string text = parts[1];
    Ids ids;
    if (parts[0] == "gpt2") {
      gpt2.EncodeWithSpecials(text, &ids);
    } else {
      const PairEncoder encoder(roberta, parts[3].is_null() ? 512 : parts[3].get<int64_t>());
      ids = parts[2].is_null() ? encoder.Encode(text).tokens
                               : encoder.Encode(text, parts[2].get<std::string>()).tokens;
    }
    EXPECT_EQ(ids, parts[4].get<Ids>());
  }
  EXPECT_EQ(cases, 215);
}

TEST(PairGolden, SpecialTokensPairsAndTruncation) {
  const char* const data = std::getenv("TORUS_DATA");
  if (data == nullptr || *data == '\0') GTEST_SKIP() << "TORUS_DATA is not set";
  const std::string dir = std::string(data) + "/bpe_gpt2_roberta";
  const auto gpt2 = OpenGpt2(dir), roberta = OpenRoberta(dir);
  ExpectGolden(*gpt2, *roberta);
  const std::string alone = TestFolder();
  const std::vector<std::string> added = {"<s>", "<pad>", "</s>", "<unk>", "<mask>"};
  WriteText(
      alone, "tokenizer.json",
      BpeTokenizerJson(dir + "/roberta_vocab.json", dir + "/vocab.bpe", MergesAs::kPairs, added)
          .dump());
  ExpectGolden(*gpt2, *OpenRoberta(alone));
}

}  // namespace
}  // namespace torus::data
