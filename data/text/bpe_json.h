// A byte-level BPE in one file: tokenizer.json, as Hugging Face's tokenizers write it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/text/special_tokens.h"
#include "data/text/vocabulary.h"

namespace torus::data {

struct BpeJson {
  TokenNumbers numbers;             // of model.vocab, and of added_tokens that it lacks
  std::string merges;               // model.merges as a merges file: the first is its line 1
  std::vector<SpecialToken> added;  // added_tokens
};

// Merges are "a b" or ["a", "b"]. BadInput naming `path` for anything else, and for a tokenizer
// that cuts texts otherwise than GPT-2's does: with a normalizer, without ByteLevel alone before
// the merges, with a space put in front, or with added tokens that must be words by themselves or
// take the space behind them.
BpeJson ParseBpeJson(std::string_view text, const std::string& path);

}  // namespace torus::data
