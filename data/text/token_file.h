// Token files: a text is tokenised once, and training maps the file into memory.
//
//   8 bytes "TorusTok" | u32 version, 1 | u32 bytes a token, 1, 2 or 4 | u64 tokens |
//   u64 vocabulary | u32 length of NAME | u32 length of ALPHABET | NAME | ALPHABET |
//   zeros up to a multiple of 64 | tokens
//
// All numbers are little-endian. NAME is the tokenizer's name; ALPHABET is a CharTokenizer's, else
// empty.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/files/mapped_file.h"
#include "data/text/tokenizer.h"
#include "data/text/tokens.h"

namespace torus::data {

inline constexpr std::string_view kTokenFileMagic = "TorusTok";

// How the tokens of a file were made.
struct TokenOrigin {
  std::string tokenizer;  // "gpt2", "roberta", "bytes", "chars"
  std::string alphabet;
  int64_t vocabulary = 0;
  friend bool operator==(const TokenOrigin&, const TokenOrigin&) = default;
};
TokenOrigin OriginOf(const Tokenizer& tokenizer);

// Writes a file, with the fewest bytes per token that the vocabulary allows. Throws BadInput for a
// token outside of the vocabulary, and BrokenEnvironment if the file cannot be written.
void WriteTokenFile(const std::string& path, const TokenOrigin& origin,
                    std::span<const int32_t> ids);

class TokenFile : public Tokens {
 public:
  // Throws BadInput naming the file and the requirement if the header is wrong. Tokens are checked
  // only when they are copied.
  explicit TokenFile(const std::string& path);

  const TokenOrigin& origin() const { return origin_; }
  const std::string& name() const override { return file_.path(); }
  int64_t size() const override { return size_; }
  int64_t vocabulary() const override { return origin_.vocabulary; }
  void Copy(int64_t begin, int64_t count, int64_t* out) const override;

 private:
  MappedFile file_;
  TokenOrigin origin_;
  int64_t size_ = 0;
  size_t width_ = 0, data_ = 0;  // bytes per token, offset of the first
};

// Several token files as one text.
class TokenShards : public Tokens {
 public:
  // Opens `dir`/PART-00000.tokens, PART-00001.tokens, ... Throws BadInput if there is none, if one
  // before another is missing, or if they come from different tokenizers.
  TokenShards(const std::string& dir, const std::string& part);

  const TokenOrigin& origin() const { return files_[0]->origin(); }
  const std::string& name() const override { return name_; }
  int64_t size() const override { return begins_.back(); }
  int64_t vocabulary() const override { return origin().vocabulary; }
  void Copy(int64_t begin, int64_t count, int64_t* out) const override;

 private:
  std::string name_;
  std::vector<std::unique_ptr<TokenFile>> files_;
  std::vector<int64_t> begins_;  // [file] its first token; then the end of the last
};

// "DIR/train-00003.tokens"
std::string TokenShardPath(const std::string& dir, const std::string& part, int number);

}  // namespace torus::data
