// Tokenizer: text to token numbers and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace torus::data {

// Immutable after it is made: any number of threads may use it.
class Tokenizer {
 public:
  virtual ~Tokenizer() = default;

  // "gpt2", "roberta", "bytes", "chars".
  virtual const std::string& name() const = 0;
  // Token numbers lie in [0, vocabulary()).
  virtual int64_t vocabulary() const = 0;
  // Appends the tokens of `text`, every byte of which is text: nothing in it is special.
  virtual void Encode(std::string_view text, std::vector<int32_t>* ids) const = 0;
  // The bytes that tokens stand for, one behind the other. BadInput tagged with the name for a
  // number that is no token's.
  virtual std::string Decode(std::span<const int32_t> ids) const = 0;

  std::vector<int32_t> Encode(std::string_view text) const {
    std::vector<int32_t> ids;
    Encode(text, &ids);
    return ids;
  }
};

}  // namespace torus::data
