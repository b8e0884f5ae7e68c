#include "data/text/pair_format.h"

#include <algorithm>
#include <utility>

#include "runtime/error.h"

namespace torus::data {
namespace {

int64_t Size(const std::vector<int32_t>& ids) { return static_cast<int64_t>(ids.size()); }

void Append(const std::vector<int32_t>& from, int64_t count, std::vector<int32_t>* to) {
  to->insert(to->end(), from.begin(), from.begin() + count);
}

}  // namespace

PairFormat FormatOf(const BpeTokenizer& tokenizer) {
  if (tokenizer.name() == "roberta") {
    const int32_t begin = tokenizer.Special("<s>"), end = tokenizer.Special("</s>");
    return {{begin}, {end, end}, {end}, tokenizer.Special("<pad>")};
  }
  Require(tokenizer.name() == "gpt2", "text", "requires the tokenizer roberta or gpt2, got {}",
          tokenizer.name());
  const int32_t end = tokenizer.Special("<|endoftext|>");
  return {{}, {end}, {end}, end};
}

PairLengths TruncateLongestFirst(PairLengths lengths, int64_t room) {
  if (lengths.first + lengths.second <= room) return lengths;
  const auto [least, most] = std::minmax(lengths.first, lengths.second);
  int64_t shorter = least, longer = std::max(least, room - least);
  if (shorter + longer > room) {
    shorter = room / 2;
    longer = room - shorter;
  }
  const bool first_is_longer = lengths.first > lengths.second;
  return first_is_longer ? PairLengths{longer, shorter} : PairLengths{shorter, longer};
}

PairEncoder::PairEncoder(const BpeTokenizer& tokenizer, int64_t max_length)
    : tokenizer_(tokenizer), format_(FormatOf(tokenizer)), max_length_(max_length) {
  const int64_t least = Size(format_.before) + Size(format_.between) + Size(format_.after) + 2;
  Require(max_length >= least, tokenizer.name(), "requires rows of at least {} tokens, got {}",
          least, max_length);
}

std::vector<int32_t> PairEncoder::Join(const std::vector<int32_t>& first, int64_t keep_first,
                                       const std::vector<int32_t>* second,
                                       int64_t keep_second) const {
  std::vector<int32_t> row = format_.before;
  Append(first, keep_first, &row);
  if (second != nullptr) {
    Append(format_.between, Size(format_.between), &row);
    Append(*second, keep_second, &row);
  }
  Append(format_.after, Size(format_.after), &row);
  return row;
}

std::vector<int32_t> PairEncoder::Encode(std::string_view first,
                                         std::optional<std::string_view> second) const {
  std::vector<int32_t> a, b;
  tokenizer_.EncodeWithSpecials(first, &a);
  int64_t room = max_length_ - Size(format_.before) - Size(format_.after);
  if (!second.has_value()) return Join(a, std::min(Size(a), room), nullptr, 0);
  tokenizer_.EncodeWithSpecials(*second, &b);
  room -= Size(format_.between);
  const PairLengths keep = TruncateLongestFirst({Size(a), Size(b)}, room);
  return Join(a, keep.first, &b, keep.second);
}

}  // namespace torus::data
