// What the folder of a tokenizer says besides its vocabulary and merges, in the files that
// transformers writes: the tokens that somebody has added, and whether each text gets a space in
// front.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "data/text/special_tokens.h"
#include "data/text/vocabulary.h"

namespace torus::data {

struct TokenizerSettings {
  std::vector<SpecialToken> added;   // each once
  std::optional<bool> prefix_space;  // "add_prefix_space"; none: the folder does not say
};

// Reads what there is of tokenizer.json (added_tokens, and the pre-tokenizer's add_prefix_space),
// tokenizer_config.json (added_tokens_decoder, add_prefix_space), added_tokens.json and
// special_tokens_map.json (which of those are special). Where two name the same token, the first
// one's settings hold; tokenizer_config.json decides on the space. Throws BadInput naming the file
// for anything that is not of this form, for two numbers of one token, for a token that must be a
// whole word or takes the space behind it, and for add_bos_token and add_eos_token, which are not
// implemented.
TokenizerSettings ReadTokenizerSettings(const std::string& dir);

// The list "added_tokens" of a tokenizer.json at `path`; null: none.
std::vector<SpecialToken> ParseAddedTokens(const nlohmann::json& list, const std::string& path);

// Adds the numbers of tokens to those of a vocabulary. Throws BadInput naming `path` if a token
// then has two numbers, or the numbers are not 0 to n - 1, each once.
void AddNumbers(const std::vector<SpecialToken>& added, const std::string& path,
                TokenNumbers* numbers);

}  // namespace torus::data
