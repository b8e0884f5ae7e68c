#include "ops/tokens/documents.h"
#include "ops/tokens/kernels.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/rows.h"

namespace torus::cuda {
namespace {

// One block per text, which processes as many tokens at a time as it has threads.
struct PositionsOfText {
  int64_t width, padding;
  const int64_t* ids;
  int64_t* positions;
  template <int kThreads>
  __device__ void Run(int64_t text) const {
    int64_t before = padding;  // the last position so far
    int all;                   // tokens of this piece that count
    for (int64_t first = 0; first < width; first += kThreads) {
      const int64_t t = first + threadIdx.x, at = text * width + t;
      const bool counts = t < width && ids[at] != padding;
      const int64_t position = before + SumUpToThread<kThreads>(counts ? 1 : 0, all);
      if (t < width) positions[at] = counts ? position : padding;
      before += all;
    }
  }
};

struct SeesToken {
  int64_t queries, width;
  const int64_t* documents;
  bool* mask;
  __device__ void operator()(int64_t i) const {
    const Divided row = Divide(i, width), text = Divide(row.quotient, queries);
    const int64_t key = row.rest, query = width - queries + text.rest;
    const int64_t* const of_row = documents + text.quotient * width;
    mask[i] = key <= query && ops::SeesDocument(of_row[query], of_row[key]);
  }
};

// Each looks back as far as its document begins: at most what the mask of the row takes.
struct PositionOfToken {
  int64_t width;
  const int64_t* documents;
  int64_t* positions;
  __device__ void operator()(int64_t i) const {
    const int64_t token = Divide(i, width).rest;
    positions[i] = ops::PositionInDocument(documents + i - token, token);
  }
};

struct RowOfPart {
  IndexRange range;
  const int64_t* ids;
  int64_t* rows;
  bool* here;
  __device__ void operator()(int64_t i) const {
    const int64_t id = ids[i];
    here[i] = id >= range.begin && id < range.end;
    rows[i] = here[i] ? id - range.begin : 0;
  }
};

}  // namespace

void PositionsBehindPadding(const Tensor& ids, int64_t padding, Tensor& positions) {
  const StreamHandle stream = CurrentStream(positions.device());
  ForEachRow("positions", ids.dim(0), ids.dim(1), stream,
             PositionsOfText{ids.dim(1), padding, Elements<int64_t>(ids),
                             MutableElements<int64_t>(positions)});
}

void CausalMask(const Tensor& documents, Tensor& mask) {
  const StreamHandle stream = CurrentStream(mask.device());
  ForEach("causal_mask", mask.numel(), stream,
          SeesToken{mask.dim(2), mask.dim(3), Elements<int64_t>(documents),
                    MutableElements<bool>(mask)});
}

void PositionsInDocuments(const Tensor& documents, Tensor& positions) {
  const StreamHandle stream = CurrentStream(positions.device());
  ForEach("positions", positions.numel(), stream,
          PositionOfToken{documents.dim(1), Elements<int64_t>(documents),
                          MutableElements<int64_t>(positions)});
}

void FindRowsOfPart(const Tensor& ids, const IndexRange& range, Tensor& rows, Tensor& here) {
  const StreamHandle stream = CurrentStream(rows.device());
  ForEach("rows_of_part", ids.numel(), stream,
          RowOfPart{range, Elements<int64_t>(ids), MutableElements<int64_t>(rows),
                    MutableElements<bool>(here)});
}

}  // namespace torus::cuda
