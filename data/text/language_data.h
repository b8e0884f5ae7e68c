// The training and validation parts of a text for language models.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "data/text/documents.h"
#include "data/text/token_file.h"
#include "data/text/tokenizer.h"
#include "data/text/tokens.h"

namespace torus::data {

struct LanguageData {
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Tokens> train, validation;
};

// The names that MakeTokenizer knows: gpt2, roberta, json, bytes, chars.
std::vector<std::string> TokenizerNames();

// Whether MakeTokenizer needs the folder of the tokenizer's vocabulary.
bool HasVocabulary(const std::string& tokenizer);

// Makes the tokenizer that produced tokens of this origin. `vocabulary_dir` is used only for gpt2,
// roberta and json (OpenGpt2, OpenRoberta, OpenJson). Throws BadInput for an unknown name, and if
// the vocabulary's size is not origin.vocabulary (0: any size).
std::unique_ptr<Tokenizer> MakeTokenizer(const TokenOrigin& origin,
                                         const std::string& vocabulary_dir);

// Opens the part "train", "validation" or "all" of a text as tokens of `tokenizer`. `path` is a
// text file or one of JSON lines (Documents), which Documents::Split divides; a token file, which
// has only "all"; or a folder written by tools/tokenize, which has no "all". Throws BadInput naming
// the path or file, also for tokens of another tokenizer.
std::unique_ptr<Tokens> OpenTokens(const std::string& path, const std::string& part,
                                   const Tokenizer& tokenizer);

// Opens both parts. `path` is either such a file, which is read, divided and tokenised by
// `tokenizer` in memory (chars: with the alphabet of the whole text), or a folder written by
// tools/tokenize. The folder's token files are mapped, all from one commit, and `tokenizer` must be
// theirs or empty. Throws BadInput naming the path, folder or file.
LanguageData OpenLanguageData(const std::string& path, const std::string& tokenizer,
                              const std::string& vocabulary_dir);

}  // namespace torus::data
