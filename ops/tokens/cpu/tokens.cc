#include "ops/tokens/documents.h"
#include "ops/tokens/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kGrain = 1 << 15;  // fewest elements that are worth waking a thread

}  // namespace

void PositionsBehindPadding(const Tensor& ids, int64_t padding, Tensor& positions) {
  const int64_t* const tokens = ids.data<int64_t>();
  const int64_t width = ids.dim(1);
  int64_t* const out = positions.mutable_data<int64_t>();
  ParallelFor(ids.dim(0), kGrain / (width + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      int64_t last = padding;
      for (int64_t at = n * width; at < (n + 1) * width; ++at)
        out[at] = tokens[at] == padding ? padding : ++last;
    }
  });
}

// Row r of the mask is of row r / queries of the documents.
void CausalMask(const Tensor& documents, Tensor& mask) {
  const int64_t* const all = documents.data<int64_t>();
  const int64_t width = documents.dim(1), queries = mask.dim(2), rows = mask.dim(0) * queries;
  bool* const sees = mask.mutable_data<bool>();
  ParallelFor(rows, kGrain / (width + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const int64_t* const row = all + r / queries * width;
      const int64_t last = width - queries + r % queries, own = row[last];
      for (int64_t j = 0; j < width; ++j)
        sees[r * width + j] = j <= last && ops::SeesDocument(own, row[j]);
    }
  });
}

void PositionsInDocuments(const Tensor& documents, Tensor& positions) {
  const int64_t* const all = documents.data<int64_t>();
  const int64_t width = documents.dim(1);
  int64_t* const out = positions.mutable_data<int64_t>();
  ParallelFor(documents.numel(), kGrain / (width + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t token = i % width;
      out[i] = ops::PositionInDocument(all + i - token, token);
    }
  });
}

void FindRowsOfPart(const Tensor& ids, const IndexRange& range, Tensor& rows, Tensor& here) {
  const int64_t* const id = ids.data<int64_t>();
  int64_t* const row = rows.mutable_data<int64_t>();
  bool* const is_here = here.mutable_data<bool>();
  ParallelFor(ids.numel(), kGrain, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      is_here[i] = id[i] >= range.begin && id[i] < range.end;
      row[i] = is_here[i] ? id[i] - range.begin : 0;
    }
  });
}

}  // namespace torus::cpu
