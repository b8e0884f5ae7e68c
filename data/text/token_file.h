// Token files: a text tokenised once, then mapped into memory by whoever trains on it.
//
//   8 bytes "TorusTok" | u32 version, 1 | u32 bytes a token, 1, 2 or 4 | u64 tokens |
//   u64 vocabulary | u32 length of NAME | u32 length of ALPHABET | NAME | ALPHABET |
//   zeros up to a multiple of 64 | tokens
//
// All little-endian. NAME is the tokenizer's; ALPHABET is that of a CharTokenizer, else empty.
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

// Writes a file, in the fewest bytes a token that the vocabulary allows. BadInput for a token
// outside of the vocabulary, BrokenEnvironment where it cannot be written.
void WriteTokenFile(const std::string& path, const TokenOrigin& origin,
                    std::span<const int32_t> ids);

class TokenFile : public Tokens {
 public:
  // BadInput naming the file and what its header should say where it does not; tokens are looked at
  // when they are copied.
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
  size_t width_ = 0, data_ = 0;  // bytes a token, offset of the first
};

// Several files as one text.
class TokenShards : public Tokens {
 public:
  // `dir`/PART-00000.tokens, PART-00001.tokens, ... BadInput where there is none, where one is
  // missing before another, or where they come from different tokenizers.
  TokenShards(const std::string& dir, const std::string& part);

  const TokenOrigin& origin() const { return files_[0]->origin(); }
  const std::string& name() const override { return name_; }
  int64_t size() const override { return begins_.back(); }
  int64_t vocabulary() const override { return origin().vocabulary; }
  void Copy(int64_t begin, int64_t count, int64_t* out) const override;

 private:
  std::string name_;
  std::vector<std::unique_ptr<TokenFile>> files_;
  std::vector<int64_t> begins_;  // [file] its first token; and the end of the last
};

// "DIR/train-00003.tokens"
std::string TokenShardPath(const std::string& dir, const std::string& part, int number);

}  // namespace torus::data
