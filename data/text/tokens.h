// Tokens: a long text as token numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torus::data {

// Immutable after construction: any number of threads may read it.
class Tokens {
 public:
  virtual ~Tokens() = default;

  virtual const std::string& name() const = 0;  // for messages
  virtual int64_t size() const = 0;             // how many there are
  // Numbers lie in [0, vocabulary()).
  virtual int64_t vocabulary() const = 0;
  // Copies tokens [begin, begin + count) to `out`. Throws BadInput, tagged with the name, outside
  // of [0, size()), and for a number outside of the vocabulary.
  virtual void Copy(int64_t begin, int64_t count, int64_t* out) const = 0;
};

// Tokens in memory.
class TokenVector : public Tokens {
 public:
  // Throws BadInput for a number outside of the vocabulary.
  TokenVector(std::string name, int64_t vocabulary, std::vector<int32_t> ids);

  const std::string& name() const override { return name_; }
  int64_t size() const override { return static_cast<int64_t>(ids_.size()); }
  int64_t vocabulary() const override { return vocabulary_; }
  void Copy(int64_t begin, int64_t count, int64_t* out) const override;

 private:
  std::string name_;
  int64_t vocabulary_;
  std::vector<int32_t> ids_;
};

// `count` tokens of a text from token `begin` on. The text must outlive it.
class TokenPart : public Tokens {
 public:
  // Throws BadInput unless the part lies within the text.
  TokenPart(const Tokens& whole, int64_t begin, int64_t count);

  const std::string& name() const override { return whole_.name(); }
  int64_t size() const override { return count_; }
  int64_t vocabulary() const override { return whole_.vocabulary(); }
  void Copy(int64_t begin, int64_t count, int64_t* out) const override;

 private:
  const Tokens& whole_;
  const int64_t begin_, count_;
};

// Throws BadInput unless [begin, begin + count) lies within the tokens.
void CheckTokenRange(const Tokens& tokens, int64_t begin, int64_t count);

}  // namespace torus::data
