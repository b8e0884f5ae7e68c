// Tokens: a long text as token numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace torus::data {

// Immutable after it is made: any number of threads may read.
class Tokens {
 public:
  virtual ~Tokens() = default;

  virtual const std::string& name() const = 0;  // for messages
  virtual int64_t size() const = 0;
  // Numbers lie in [0, vocabulary()).
  virtual int64_t vocabulary() const = 0;
  // Writes tokens [begin, begin + count). BadInput, tagged with the name, outside of [0, size()),
  // and for a number that the vocabulary has not.
  virtual void Copy(int64_t begin, int64_t count, int64_t* out) const = 0;
};

// Tokens in memory.
class TokenVector : public Tokens {
 public:
  // BadInput for a number outside of the vocabulary.
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

// BadInput unless [begin, begin + count) lies within the tokens.
void CheckTokenRange(const Tokens& tokens, int64_t begin, int64_t count);

}  // namespace torus::data
