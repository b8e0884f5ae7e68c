// A text to train a language model on, and the part of it that is kept for validation.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "data/text/token_file.h"
#include "data/text/tokenizer.h"
#include "data/text/tokens.h"

namespace torus::data {

struct LanguageData {
  std::unique_ptr<Tokenizer> tokenizer;
  std::unique_ptr<Tokens> train, validation;
};

// Names that MakeTokenizer knows: gpt2, roberta, bytes, chars.
std::vector<std::string> TokenizerNames();

// The tokenizer that made tokens. `vocabulary_dir`: of gpt2 and roberta alone (OpenGpt2,
// OpenRoberta). BadInput for an unknown name, and where its vocabulary has another size than
// origin.vocabulary (0: any).
std::unique_ptr<Tokenizer> MakeTokenizer(const TokenOrigin& origin,
                                         const std::string& vocabulary_dir);

// The first 90 % of a text's characters (of its bytes where it is not UTF-8), and the rest; as
// nanoGPT cuts.
std::pair<std::string_view, std::string_view> SplitText(std::string_view text);

// The part "train", "validation" or "all" of a text, in tokens of `tokenizer`. `path`: a text file,
// which is cut by SplitText; a token file, which is "all"; or a folder that tools/tokenize wrote,
// which has no "all". BadInput naming path or file, also for tokens of another tokenizer.
std::unique_ptr<Tokens> OpenTokens(const std::string& path, const std::string& part,
                                   const Tokenizer& tokenizer);

// `path` is a text file: read, cut by SplitText and tokenised by `tokenizer` (chars: by the whole
// text's alphabet), in memory. Or it is a folder that tools/tokenize wrote: its token files are
// mapped, all of one commit, and `tokenizer` must be theirs or empty. BadInput naming path, folder
// or file.
LanguageData OpenLanguageData(const std::string& path, const std::string& tokenizer,
                              const std::string& vocabulary_dir);

}  // namespace torus::data
