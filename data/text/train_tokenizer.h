// Trains a tokenizer on text files, and writes its folder.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torus::data {

struct TrainTokenizerOptions {
  std::vector<std::string> inputs;  // text files or ones of JSON lines, less than 2 GiB each
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
