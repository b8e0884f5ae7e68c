// Opens tokenizers from their published files.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "data/text/bpe_tokenizer.h"

namespace torus::data {

// Opens GPT-2's from `dir`: encoder.json and vocab.bpe as OpenAI names them, or vocab.json and
// merges.txt as Hugging Face does, or, if there are no merges, tokenizer.json (bpe_json.h). Added
// tokens, and a space in front of each text, as the folder's other files say (added_tokens.h).
// Special token: <|endoftext|>. Throws BadInput naming the file for anything wrong, and for
// add_bos_token, which only OpenJson follows.
std::unique_ptr<BpeTokenizer> OpenGpt2(const std::string& dir);

// Opens RoBERTa's from `dir`: merges as above, and numbers from roberta_vocab.json, or vocab.json,
// or fairseq's dict.txt together with encoder.json; or everything from tokenizer.json. Special
// tokens: <s>, <pad>, </s>, <unk>, and <mask>, which takes the white space before it.
std::unique_ptr<BpeTokenizer> OpenRoberta(const std::string& dir);

// Opens whatever BPE the tokenizer.json of `dir` describes, over bytes (as Llama 3's; bpe_json.h)
// or over characters (as Llama 2's; character_bpe_json.h), or a BPE over bytes from the files that
// OpenGpt2 takes. Its name is "json". It begins a text that stands alone with the tokens that the
// file's post_processor puts there, or as add_bos_token says, and ends one with eos_token. Throws
// BadInput naming the file for anything wrong, and for a post_processor that puts a token behind a
// text.
std::unique_ptr<Tokenizer> OpenJson(const std::string& dir);

// The files from which the tokenizer `name` is opened, as path -> name in a Hugging Face folder.
// (dict.txt and its encoder.json have no name there and keep theirs.) With what there is beside
// them of tokenizer.json, added_tokens.json, special_tokens_map.json and tokenizer.model,
// unchanged.
std::map<std::string, std::string> VocabularyFiles(const std::string& dir, const std::string& name);

}  // namespace torus::data
