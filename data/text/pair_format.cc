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

PairEncoder::Row PairEncoder::Encode(std::string_view first,
                                     std::optional<std::string_view> second) const {
  std::vector<int32_t> a, b;
  tokenizer_.EncodeWithSpecials(first, &a);
  if (second.has_value()) tokenizer_.EncodeWithSpecials(*second, &b);
  const int64_t between = second.has_value() ? Size(format_.between) : 0;
  const int64_t room = max_length_ - Size(format_.before) - between - Size(format_.after);
  const PairLengths whole{Size(a), Size(b)};
  const PairLengths keep = second.has_value() ? TruncateLongestFirst(whole, room)
                                              : PairLengths{std::min(whole.first, room), 0};
  Row row{.tokens = format_.before, .truncated = keep != whole};
  Append(a, keep.first, &row.tokens);
  Append(format_.between, between, &row.tokens);
  Append(b, keep.second, &row.tokens);
  Append(format_.after, Size(format_.after), &row.tokens);
  return row;
}

}  // namespace torus::data
