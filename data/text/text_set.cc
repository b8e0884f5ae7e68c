#include "data/text/text_set.h"

#include <algorithm>

namespace torus::data {

TextSet::TextSet(const TextTable& table, const PairEncoder& encoder)
    : info_{.name = table.name, .classes = table.classes, .image = {}, .normalization = {}},
      length_(encoder.max_length()),
      pad_(encoder.pad()),
      begins_{0} {
  Require(!table.examples.empty(), table.name, "requires at least one example, got none");
  for (const SkippedLine& skipped : table.skipped)
    left_out_.push_back({fmt::format("{} line {}", table.path, skipped.line), skipped.reason});
  for (const TextExample& example : table.examples) {
    const auto second =
        table.pairs ? std::optional<std::string_view>(example.second) : std::nullopt;
    const PairEncoder::Row row = encoder.Encode(example.first, second);
    tokens_.insert(tokens_.end(), row.tokens.begin(), row.tokens.end());
    begins_.push_back(tokens_.size());
    labels_.push_back(example.label);
    truncated_ += row.truncated;
  }
}

Sample TextSet::Get(int64_t index) const {
  Require(index >= 0 && index < size(), info_.name, "requires an example of 0 to {}, got {}",
          size() - 1, index);
  const auto count = static_cast<int64_t>(begins_[index + 1] - begins_[index]);
  Tensor tokens({length_}, DType::kI64), mask({length_}, DType::kI64);
  int64_t* const row = tokens.mutable_data<int64_t>();
  int64_t* const shown = mask.mutable_data<int64_t>();
  std::copy_n(tokens_.begin() + static_cast<ptrdiff_t>(begins_[index]), count, row);
  std::fill(row + count, row + length_, pad_);
  std::fill(shown, shown + count, 1);
  std::fill(shown + count, shown + length_, 0);
  return {{tokens, mask}, FromVector<int64_t>({labels_[index]}, {})};
}

std::unique_ptr<TextSet> OpenGlue(const std::string& task, const std::string& dir, Split split,
                                  const BpeTokenizer& tokenizer, int64_t length) {
  const char* const file = split == Split::kTrain ? "train.tsv" : "dev.tsv";
  const PairEncoder encoder(tokenizer, length);
  const TextTable table = ReadGlue(task, fmt::format("{}/{}", dir, file));
  if (!table.labelled)
    Throw<BadInput>(table.path,
                    "line 1: requires a column {} with the labels, as GLUE's files for training "
                    "and development have it (those for the test have none), got '{}'",
                    table.label_column, table.header);
  return std::make_unique<TextSet>(table, encoder);
}

}  // namespace torus::data
