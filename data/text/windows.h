// Windows of a long text, for language models: a window's target is the token after each of its
// own.
#pragma once

#include <cstdint>

#include "data/datasets/dataset.h"
#include "data/loading/batch.h"
#include "data/text/tokens.h"

namespace torus::data {

// One behind the other, for validation: window i begins at token i x length, and together they
// predict every token but the first of the text and the up to length - 1 at its end.
// An example has the input {tokens i64 (length)} and the target i64 (length).
class DisjointWindows : public Dataset {
 public:
  // BadInput naming the tokens unless they hold one window and the token after it. `tokens` must
  // outlive it.
  DisjointWindows(const Tokens& tokens, int64_t length);

  const DatasetInfo& info() const override { return info_; }
  int64_t size() const override { return (tokens_.size() - 1) / length_; }
  Sample Get(int64_t index) const override;

 private:
  const Tokens& tokens_;
  int64_t length_;
  DatasetInfo info_;
};

struct RandomWindowOptions {
  int64_t length = 0;
  uint64_t seed = 0;
};

// Anywhere, for training: example `index` of epoch `epoch` begins at a token drawn uniformly from
// the stream of (seed, epoch, index). With a sampler that does not shuffle the index says step and
// row: index = number of the mini-batch in the epoch x batch size + row. So a window depends
// neither on replicas and micro-batches nor on where a run was resumed. An epoch may have any size.
//
// Batches have the input {tokens i64 (n, length)} and the target i64 (n, length). BadInput as
// above.
MakeBatch RandomWindows(const Tokens& tokens, const RandomWindowOptions& options);

// The first token of such a window.
int64_t RandomWindowBegin(const Tokens& tokens, const RandomWindowOptions& options, int64_t epoch,
                          int64_t index);

}  // namespace torus::data
