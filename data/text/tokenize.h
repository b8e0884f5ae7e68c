// Converts text files to a folder of token files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/text/language_data.h"

namespace torus::data {

struct TokenizeOptions {
  std::vector<std::string> inputs;     // text files or ones of JSON lines, less than 2 GiB each
  std::string output;                  // a folder; it atomically replaces an old one
  std::string tokenizer = "gpt2";      // one of TokenizerNames(); chars: the alphabet of all inputs
  std::string vocabulary_dir;          // for those with HasVocabulary
  bool special_tokens = false;         // one written in a text is that token, not plain text
  int64_t shard_tokens = 100'000'000;  // most tokens per file
};

struct TokenizeResult {
  int64_t vocabulary = 0;
  int64_t bytes = 0, train = 0, validation = 0;  // bytes read, tokens written
  int train_files = 0, validation_files = 0;
  int64_t ends = 0;           // tokens that end a text, which were put between documents
  int64_t specials = 0;       // special tokens that are written in the texts
  std::string first_special;  // the first of them
  double seconds = 0;         // CPU time of tokenising, without file access
};

// Divides each input by Documents::Split (between tokens), tokenises both parts, puts the token
// that ends a text (Tokenizer::end_of_text) between the documents of a part if the tokenizer has
// it, and writes train-00000.tokens, ..., validation-00000.tokens, ... (OpenLanguageData reads
// them). Throws BadInput naming the option or file, also for an output folder that contains
// anything but token files, which would be lost.
// Throws BrokenEnvironment if the folder cannot be written.
TokenizeResult TokenizeFiles(const TokenizeOptions& options);

}  // namespace torus::data
