#include "data/text/byte_tokenizer.h"

#include "runtime/error.h"

namespace torus::data {

const std::string& ByteTokenizer::name() const {
  static const std::string name = "bytes";
  return name;
}

void ByteTokenizer::Encode(std::string_view text, std::vector<int32_t>* ids) const {
  ids->reserve(ids->size() + text.size());
  for (const char byte : text) ids->push_back(static_cast<uint8_t>(byte));
}

std::string ByteTokenizer::Decode(std::span<const int32_t> ids) const {
  std::string text;
  for (const int32_t id : ids) {
    Require(id >= 0 && id < vocabulary(), name(), "requires tokens of 0 to 255, got {}", id);
    text.push_back(static_cast<char>(id));
  }
  return text;
}

}  // namespace torus::data
