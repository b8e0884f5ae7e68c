// Folders that transformers wrote, of Llamas with random weights (tests/golden/make_llama.py): the
// same tokens of a prompt, and the same text behind it.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/text/tokenizer_files.h"
#include "recipes/generate/generator.h"

namespace torus::recipes {
namespace {

using Ids = std::vector<int32_t>;

void ExpectItsTexts(const std::string& folder) {
  const auto tokenizer = data::TokenizerOfFolder(folder, "json");
  const nlohmann::json texts = nlohmann::json::parse(std::ifstream(folder + "/greedy.json"));
  ASSERT_EQ(texts.size(), 4u);
  for (const nlohmann::json& text : texts) {
    const std::string prompt = text.at("prompt");
    SCOPED_TRACE(prompt);
    const Ids wanted = text.at("ids").get<Ids>();
    Ids ids = tokenizer->beginning();
    tokenizer->Encode(prompt, &ids);
    EXPECT_EQ(ids, text.at("prompt_ids").get<Ids>());
    std::string pieces;
    const std::string got = Generate({.model = folder,
                                      .prompt = prompt,
                                      .tokens = std::ssize(wanted),
                                      .sampling = {.temperature = 0}},
                                     [&](const std::string& piece) { pieces += piece; });
    EXPECT_EQ(got, tokenizer->DecodeNext(wanted));
    EXPECT_EQ(pieces, prompt + got);
  }
}

TEST(LlamaGolden, WithCharactersAndBytes) { ExpectItsTexts("tests/golden/llama2"); }
TEST(LlamaGolden, WithATiedHeadAndScaledPositions) { ExpectItsTexts("tests/golden/llama3"); }

}  // namespace
}  // namespace torus::recipes
