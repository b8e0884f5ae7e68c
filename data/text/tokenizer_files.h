// The tokenizer files in a model's folder, as read by Hugging Face's transformers.
//
//   gpt2, roberta  vocab.json and merges.txt (roberta also dict.txt with encoder.json), or all in
//                  tokenizer.json
//   json           tokenizer.json of any BPE that OpenJson reads
//   chars, bytes   tokenizer.json: a BPE without merges, whose vocabulary is the characters, or the
//                  symbols of the bytes (byte_symbols.h)
#pragma once

#include <map>
#include <memory>
#include <string>

#include "data/text/tokenizer.h"

namespace torus::data {

// The files, as name -> content. `vocabulary_dir`: for gpt2, roberta and json, whose files are
// copied from there. Throws BadInput naming what is missing there.
std::map<std::string, std::string> TokenizerFiles(const Tokenizer& tokenizer,
                                                  const std::string& vocabulary_dir);

// Whether the folder has files of a tokenizer: merges, or a tokenizer.json.
bool HasTokenizer(const std::string& folder);

// Opens the tokenizer of a folder. If the folder has merges, it is GPT-2's, RoBERTa's or Llama's,
// according to tokenizer_class in tokenizer_config.json, or `bpe` ("gpt2", "roberta" or "json") if
// that names none of them. Otherwise tokenizer.json decides. All files are from one commit of
// the folder (runtime/io/one_commit.h). Throws BadInput naming the file if there is no tokenizer or
// another one.
std::unique_ptr<Tokenizer> TokenizerOfFolder(const std::string& folder, const std::string& bpe);

// Parses a tokenizer.json of characters or bytes. Throws BadInput tagged `where` otherwise.
std::unique_ptr<Tokenizer> ParseTokenizerJson(std::string_view text, const std::string& where);

}  // namespace torus::data
