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
  std::string vocabulary_dir;          // for gpt2 and roberta
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

struct TrainTokenizerOptions {
  std::vector<std::string> inputs;  // as above
  std::string output;               // a folder; it atomically replaces an old one
  int64_t vocabulary = 0;           // tokens: 256 bytes, merges and <|endoftext|>
};

struct TrainTokenizerResult {
  int64_t vocabulary = 0;         // fewer than were asked for if no pair was left that occurs twice
  int64_t bytes = 0, pieces = 0;  // bytes read, different pieces in them
};

// Trains a byte-level BPE (train_bpe.h) on all documents, and writes vocab.json, merges.txt and
// tokenizer_config.json, which OpenGpt2 and transformers read. Throws BadInput naming the option or
// file, also for a vocabulary below 257 and for an output folder with other files, which would be
// lost. Throws BrokenEnvironment if the folder cannot be written.
TrainTokenizerResult TrainTokenizer(const TrainTokenizerOptions& options);

}  // namespace torus::data
