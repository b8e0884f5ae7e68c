// A byte-level BPE in a single file: tokenizer.json, as written by Hugging Face's tokenizers.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "data/text/gpt2_pattern.h"
#include "data/text/vocabulary.h"

namespace torus::data {

// How texts are cut into pieces, and a piece into tokens.
struct BpeCut {
  NumberCut numbers = NumberCut::kAsWords;
  bool ignore_merges = false;        // a piece that is in the vocabulary is one token
  std::optional<bool> prefix_space;  // ByteLevel's add_prefix_space

  // Whether it cuts as GPT-2's tokenizer does.
  bool IsGpt2() const { return numbers == NumberCut::kAsWords && !ignore_merges; }
};

struct BpeJson {
  TokenNumbers numbers;  // model.vocab
  std::string merges;    // model.merges in the form of a merges file; the first merge is line 1
  BpeCut cut;
};

// Merges may be "a b" or ["a", "b"]. Throws BadInput naming `path` for any other form, and for a
// tokenizer that splits or changes texts in another way: one with a normalizer, with dropout, or
// with anything but ByteLevel, Digits and ByteLevel, or Llama 3's expression and ByteLevel, before
// the merges.
BpeJson ParseBpeJson(std::string_view text, const std::string& path);

// The same of a tokenizer.json beside files of the vocabulary and the merges, which may lack these.
BpeCut ParseBpeCut(std::string_view text, const std::string& path);

}  // namespace torus::data
