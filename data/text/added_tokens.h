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
  std::vector<SpecialToken> named;   // bos_token, mask_token, ...; without numbers
  std::optional<bool> prefix_space;  // "add_prefix_space" of the config
  std::string tokenizer_class;       // of the config; empty: it does not say
  std::string bos, eos;              // bos_token and eos_token; empty: there is none
  // "add_bos_token" of the config: a text that stands alone begins with bos.
  bool begins_with_bos = false;

  // Whether the class is one that transformers makes of a vocabulary and merges alone: GPT-2's or
  // RoBERTa's. It takes from tokenizer.json neither how texts are cut nor add_prefix_space.
  bool HasClassOfAModel() const;
};

// Reads what there is of tokenizer.json (added_tokens), tokenizer_config.json
// (added_tokens_decoder, bos_token and its like, add_prefix_space, tokenizer_class),
// added_tokens.json and special_tokens_map.json. Where two name the same token, the first one's
// settings hold. Throws BadInput naming the file for anything that is not of this form, for two
// numbers of one token, and for add_eos_token: texts end without a token of their own.
TokenizerSettings ReadTokenizerSettings(const std::string& dir);

// Adds the numbers of tokens to those of a vocabulary. Throws BadInput naming `path` if a token
// then has two numbers, or the numbers are not 0 to n - 1, each once.
void AddNumbers(const std::vector<SpecialToken>& added, const std::string& path,
                TokenNumbers* numbers);

}  // namespace torus::data
