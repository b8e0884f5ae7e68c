// TextSet: sentences, or pairs of them, with their classes, as rows of tokens.
#pragma once

#include <memory>
#include <string>

#include "data/datasets/dataset.h"
#include "data/text/glue.h"
#include "data/text/pair_format.h"

namespace torus::data {

// An example has the inputs {tokens i64 (T), mask i64 (T)}, where T is the maximum length. The
// tokens are the row of PairEncoder, padded; the mask is 1 for the row and 0 for padding. The
// target is the label, i64 scalar (kNoLabel if the file has none).
class TextSet : public Dataset {
 public:
  // Encodes all examples. `encoder` need not outlive it.
  TextSet(const TextTable& table, const PairEncoder& encoder);

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return static_cast<int64_t>(labels_.size()); }
  Sample Get(int64_t index) const override;
  std::vector<LeftOut> left_out() const override { return left_out_; }

  int64_t length() const { return length_; }  // T
  // The number of examples that were truncated to the row's length.
  int64_t truncated() const { return truncated_; }

 private:
  DatasetInfo info_;
  std::vector<LeftOut> left_out_;
  int64_t length_;
  int32_t pad_;
  int64_t truncated_ = 0;
  std::vector<int32_t> tokens_;  // all rows, concatenated
  std::vector<size_t> begins_;   // [example] its first token; then the end of the last
  std::vector<int64_t> labels_;
};

// Opens `dir`/train.tsv, or dev.tsv for Split::kTest (GLUE's test files have no labels), of a task
// of GlueTasks(), tokenised in rows of `length`. Throws like ReadGlue and PairEncoder.
std::unique_ptr<TextSet> OpenGlue(const std::string& task, const std::string& dir, Split split,
                                  const BpeTokenizer& tokenizer, int64_t length);

}  // namespace torus::data
