// A tokenizer in a model's folder, as Hugging Face's transformers reads it.
//
//   gpt2, roberta  vocab.json and merges.txt (roberta also dict.txt with encoder.json), or all in
//                  tokenizer.json
//   chars, bytes   tokenizer.json: a BPE without merges, whose vocabulary is the characters, or the
//                  symbols of the bytes (byte_symbols.h)
#pragma once

#include <map>
#include <memory>
#include <string>

#include "data/text/tokenizer.h"

namespace torus::data {

// Name -> content of the files. `vocabulary_dir`: of gpt2 and roberta, whose files are copied.
// BadInput naming what it lacks.
std::map<std::string, std::string> TokenizerFiles(const Tokenizer& tokenizer,
                                                  const std::string& vocabulary_dir);

// The tokenizer of a folder: where it has merges GPT-2's or RoBERTa's, as the tokenizer_class of
// tokenizer_config.json says, or `bpe` ("gpt2" or "roberta") where that names neither; else what
// tokenizer.json says. Its files are of one commit of the folder (runtime/io/one_commit.h).
// BadInput naming the file for another, or none.
std::unique_ptr<Tokenizer> TokenizerOfFolder(const std::string& folder, const std::string& bpe);

// The characters or bytes of a tokenizer.json. BadInput tagged `where`.
std::unique_ptr<Tokenizer> ParseTokenizerJson(std::string_view text, const std::string& where);

}  // namespace torus::data
