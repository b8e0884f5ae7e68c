// A byte-level BPE in a single file: tokenizer.json, as written by Hugging Face's tokenizers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/text/special_tokens.h"
#include "data/text/vocabulary.h"

namespace torus::data {

struct BpeJson {
  TokenNumbers numbers;  // model.vocab, and those of added_tokens that it lacks
  std::string merges;    // model.merges in the form of a merges file; the first merge is line 1
  std::vector<SpecialToken> added;  // added_tokens
};

// Merges may be "a b" or ["a", "b"]. Throws BadInput naming `path` for any other form, and for a
// tokenizer that splits text differently from GPT-2's: one with a normalizer, one with anything but
// ByteLevel alone before the merges, or one with added tokens that must be whole words or take the
// space after them.
BpeJson ParseBpeJson(std::string_view text, const std::string& path);

// The same of a tokenizer.json beside files of the vocabulary and the merges, which may lack these.
void CheckBpeJson(std::string_view text, const std::string& path);

}  // namespace torus::data
