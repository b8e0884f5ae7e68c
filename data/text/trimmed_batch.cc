#include "data/text/trimmed_batch.h"

#include <algorithm>
#include <utility>

namespace torus::data {
namespace {

// One column at least.
int64_t LongestRow(const Tensor& mask) {
  const int64_t* const shown = mask.data<int64_t>();
  int64_t longest = 1;
  for (int64_t i = 0; i < mask.numel(); ++i)
    if (shown[i] != 0) longest = std::max(longest, i % mask.dim(1) + 1);
  return longest;
}

Tensor FirstColumns(const Tensor& rows, int64_t width) {
  Tensor out({rows.dim(0), width}, rows.dtype());
  const int64_t* from = rows.data<int64_t>();
  int64_t* to = out.mutable_data<int64_t>();
  for (int64_t r = 0; r < rows.dim(0); ++r, from += rows.dim(1), to += width)
    std::copy_n(from, width, to);
  return out;
}

}  // namespace

MakeBatch TrimmedBatches(MakeBatch rows) {
  return [rows = std::move(rows)](const MicroBatch& part) {
    Batch batch = rows(part);
    const int64_t longest = LongestRow(batch.inputs[1]);
    for (Tensor& input : batch.inputs) input = FirstColumns(input, longest);
    return batch;
  };
}

}  // namespace torus::data
