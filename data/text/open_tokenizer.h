// Tokenizers from the files that they are published as.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/text/bpe_tokenizer.h"

namespace torus::data {

// GPT-2: `dir`/encoder.json and vocab.bpe as OpenAI names them, or vocab.json and merges.txt as
// Hugging Face does, or where there are no merges tokenizer.json (bpe_json.h), whose added tokens
// are special too. Special token: <|endoftext|>.
// BadInput naming the file for everything that is not as it must be.
std::unique_ptr<BpeTokenizer> OpenGpt2(const std::string& dir);

// RoBERTa: merges as above; numbers from `dir`/roberta_vocab.json, or vocab.json, or fairseq's
// dict.txt beside encoder.json; or all of them from tokenizer.json. Special tokens: <s>, <pad>,
// </s>, <unk>, and <mask>, which takes the white space before it.
std::unique_ptr<BpeTokenizer> OpenRoberta(const std::string& dir);

// The files that the tokenizer `name` is opened from, as path -> name in a folder of Hugging Face's
// (dict.txt and its encoder.json, which have none there, keep theirs). A tokenizer.json that is all
// there is stays as it is.
std::map<std::string, std::string> VocabularyFiles(const std::string& dir, const std::string& name);

}  // namespace torus::data
