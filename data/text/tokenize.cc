#include "data/text/tokenize.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <span>

#include "data/text/char_tokenizer.h"
#include "data/text/document_characters.h"
#include "data/text/documents.h"
#include "data/text/text_folders.h"
#include "data/text/token_file.h"
#include "runtime/error.h"
#include "runtime/io/file.h"
#include "runtime/io/folder.h"

namespace torus::data {
namespace {

// The characters of all inputs.
CharTokenizer CharactersOfAll(const std::vector<std::string>& inputs) {
  std::string alphabets;
  for (const std::string& input : inputs)
    alphabets += CharactersOf(Documents(CheckedText(input)), input);
  return CharTokenizer::Of(alphabets, "chars");
}

bool IsTokenFile(const std::filesystem::directory_entry& entry) {
  if (!entry.is_regular_file() || entry.path().extension() != ".tokens") return false;
  const io::InputFile file(entry.path().string());
  std::string magic(std::min<uint64_t>(file.size(), kTokenFileMagic.size()), '\0');
  file.ReadAt(0, magic.data(), magic.size());
  return magic == kTokenFileMagic;
}

std::unique_ptr<Tokenizer> TokenizerFor(const TokenizeOptions& options) {
  if (options.tokenizer == "chars")
    return std::make_unique<CharTokenizer>(CharactersOfAll(options.inputs));
  return MakeTokenizer({.tokenizer = options.tokenizer}, options.vocabulary_dir);
}

// Counts the special tokens that are written in a text.
void CountSpecials(std::string_view text, const Tokenizer& tokenizer, TokenizeResult* result) {
  const auto is_special = [](const SpecialToken& token) { return token.special; };
  for (const TextPart& part : CutAtSpecials(text, tokenizer.specials(), is_special)) {
    if (part.special >= 0 && ++result->specials == 1) result->first_special = part.text;
  }
}

// Collects the tokens of one part and writes a file whenever there are enough.
class ShardWriter {
 public:
  ShardWriter(std::string dir, std::string part, const Tokenizer& tokenizer,
              const TokenizeOptions& options)
      : dir_(std::move(dir)), part_(std::move(part)), tokenizer_(tokenizer), options_(options) {}

  void Add(std::string_view text) {
    const std::clock_t begin = std::clock();
    if (tokens_ > 0 || !ids_.empty()) EndText();
    options_.special_tokens ? tokenizer_.EncodeWithSpecials(text, &ids_)
                            : tokenizer_.Encode(text, &ids_);
    seconds_ += static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
    const int64_t most = options_.shard_tokens;
    int64_t written = 0;
    for (; Left(written) > most; written += most) Write(written, most);
    ids_.erase(ids_.begin(), ids_.begin() + written);
  }
  // Writes the remaining tokens; writes at least one file in total.
  void Finish() {
    if (files_ == 0 || !ids_.empty()) Write(0, Left(0));
  }

  int64_t tokens() const { return tokens_; }
  int64_t ends() const { return ends_; }
  int files() const { return files_; }
  double seconds() const { return seconds_; }

 private:
  void EndText() {
    if (end_ < 0) return;
    ids_.push_back(end_);
    ++ends_;
  }
  int64_t Left(int64_t written) const { return static_cast<int64_t>(ids_.size()) - written; }
  void Write(int64_t begin, int64_t count) {
    WriteTokenFile(TokenShardPath(dir_, part_, files_++), OriginOf(tokenizer_),
                   std::span(ids_).subspan(begin, count));
    tokens_ += count;
  }

  const std::string dir_, part_;
  const Tokenizer& tokenizer_;
  const TokenizeOptions& options_;
  const int32_t end_ = tokenizer_.end_of_text();
  std::vector<int32_t> ids_;
  int64_t tokens_ = 0, ends_ = 0;
  int files_ = 0;
  double seconds_ = 0;
};

}  // namespace

TokenizeResult TokenizeFiles(const TokenizeOptions& options) {
  Require(!options.inputs.empty(), "tokenize", "requires at least one text file");
  Require(options.shard_tokens >= 1, "tokenize", "requires at least one token a file, got {}",
          options.shard_tokens);
  CheckReplaceable(options.output, "token files", IsTokenFile);
  const std::unique_ptr<Tokenizer> tokenizer = TokenizerFor(options);
  TokenizeResult result{.vocabulary = tokenizer->vocabulary()};
  io::FolderWriter folder(options.output);
  ShardWriter train(folder.temporary(), "train", *tokenizer, options);
  ShardWriter validation(folder.temporary(), "validation", *tokenizer, options);
  const auto& whole = options.special_tokens ? tokenizer->specials() : tokenizer->words();
  for (const std::string& input : options.inputs) {
    const Documents documents(CheckedText(input));
    const auto [first, rest] = documents.Split(whole);
    for (const std::string_view document : first) train.Add(document);
    for (const std::string_view document : rest) validation.Add(document);
    for (const std::string_view document : documents.all())
      CountSpecials(document, *tokenizer, &result);
    result.bytes += static_cast<int64_t>(documents.file().bytes().size());
  }
  train.Finish();
  validation.Finish();
  folder.Commit();
  result.train = train.tokens(), result.train_files = train.files();
  result.validation = validation.tokens(), result.validation_files = validation.files();
  result.ends = train.ends() + validation.ends();
  result.seconds = train.seconds() + validation.seconds();
  return result;
}

}  // namespace torus::data
