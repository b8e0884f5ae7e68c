#include "ops/tokens/cpu/tokens.h"

namespace torus::cpu {

void PositionsBehindPadding(const Tensor& ids, int64_t padding, Tensor& positions) {
  const int64_t *token = ids.data<int64_t>(), width = ids.dim(1);
  int64_t* position = positions.mutable_data<int64_t>();
  for (int64_t n = 0; n < ids.dim(0); ++n) {
    int64_t last = padding;
    for (int64_t t = 0; t < width; ++t, ++token) *position++ = *token == padding ? padding : ++last;
  }
}

void CausalMask(const Tensor& tokens, Tensor& mask) {
  const int64_t *token = tokens.data<int64_t>(), width = tokens.dim(1);
  bool* sees = mask.mutable_data<bool>();
  for (int64_t n = 0; n < tokens.dim(0); ++n, token += width)
    for (int64_t i = width - mask.dim(2); i < width; ++i)
      for (int64_t j = 0; j < width; ++j) *sees++ = j <= i && token[j] != 0;
}

void FindRowsOfPart(const Tensor& ids, const IndexRange& range, Tensor& rows, Tensor& here) {
  const int64_t* id = ids.data<int64_t>();
  int64_t* row = rows.mutable_data<int64_t>();
  bool* is_here = here.mutable_data<bool>();
  for (int64_t i = 0; i < ids.numel(); ++i) {
    is_here[i] = id[i] >= range.begin && id[i] < range.end;
    row[i] = is_here[i] ? id[i] - range.begin : 0;
  }
}

}  // namespace torus::cpu
