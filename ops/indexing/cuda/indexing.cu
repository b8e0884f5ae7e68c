#include <string>

#include "ops/cuda/sorted_index.h"
#include "ops/elementwise/value_types.h"
#include "ops/indexing/gather_plan.h"
#include "ops/indexing/kernels.h"
#include "ops/indexing/put_functors.h"
#include "ops/indexing/row_norm.h"
#include "ops/sum/running_type.h"
#include "runtime/cuda/divide.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/strided.h"
#include "runtime/kernels.h"
//
#include "runtime/cuda/block.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/rows.h"
#include "runtime/cuda/safe_values.h"

namespace torus::cuda {
namespace {

constexpr int64_t kCheckedPart = 4096;  // elements per block

struct Smaller {
  __device__ int64_t operator()(int64_t a, int64_t b) const { return a < b ? a : b; }
};

// first[p] = position of the first value in part p that is outside of [0, bound), else INT64_MAX.
struct FindOutside {
  int64_t count, bound;
  const int64_t* index;
  int64_t* first;
  template <int kThreads>
  __device__ void Run(int64_t part) const {
    const int64_t begin = part * kCheckedPart;
    const int64_t end = begin + kCheckedPart < count ? begin + kCheckedPart : count;
    int64_t found = INT64_MAX;
    for (int64_t i = begin + threadIdx.x; i < end; i += kThreads)
      if (index[i] < 0 || index[i] >= bound) found = Smaller()(found, i);
    found = CombineBlock<kThreads>(found, Smaller());
    if (threadIdx.x == 0) first[part] = found;
  }
};

struct IsWithin {
  int64_t bound;
  __device__ bool operator()(int64_t value) const { return value >= 0 && value < bound; }
};

[[noreturn]] void FailIndex(std::string_view op, int64_t value, int64_t position, int64_t bound) {
  Throw<BadInput>(op, "index {} at position {} is outside of [0, {})", value, position, bound);
}

void CheckNow(std::string_view op, const Tensor& index, int64_t bound, StreamHandle stream) {
  const int64_t count = index.numel();
  const int64_t parts = (count - 1) / kCheckedPart + 1;
  Tensor first({parts}, DType::kI64, index.device());
  ForEachRow(op, parts, count < kCheckedPart ? count : kCheckedPart, stream,
             FindOutside{count, bound, Elements<int64_t>(index), MutableElements<int64_t>(first)});
  for (int64_t at : ToVector<int64_t>(first)) {
    if (at == INT64_MAX) continue;
    FailIndex(op, ToVector<int64_t>(index.View({count}).Narrow(0, at, 1))[0], at, bound);
  }
}

// y[o, k, i] = x[o, index[k], i]
template <class T>
struct SelectedRow {
  int64_t rows, inner, count;
  const int64_t* index;
  const T* x;
  T* y;
  __device__ void operator()(int64_t i) const {
    const Divided at = Divide(i, inner), row = Divide(at.quotient, count);
    y[i] = x[(row.quotient * rows + index[row.rest]) * inner + at.rest];
  }
};

// Element i of outer index o and place p of the sorted index: where a run of equal indices starts,
// its sum.
template <class T>
struct AddRun {
  int64_t rows, inner, count, skip;
  const int64_t *values, *order;
  const T* dy;
  T* dx;
  __device__ void operator()(int64_t i) const {
    const Divided at = Divide(i, inner), place = Divide(at.quotient, count);
    const int64_t outer = place.quotient, first = place.rest, value = values[first];
    if (value == skip || (first > 0 && values[first - 1] == value)) return;
    T sum = T(0);
    for (int64_t p = first; p < count && values[p] == value; ++p)
      ops::AddTo()(sum, dy[(outer * count + order[p]) * inner + at.rest]);
    dx[(outer * rows + value) * inner + at.rest] = sum;
  }
};

// A block scales the row at place p of the sorted index, where a run of equal indices starts.
template <class T>
struct RenormRun {
  int64_t width;
  ops::RowNorm norm;
  double most;
  const int64_t* values;
  T* weight;
  struct Joined {
    ops::RowNorm norm;
    __device__ T operator()(const T& a, const T& b) const { return norm.Joined(a, b); }
  };
  template <int kThreads>
  __device__ void Run(int64_t place) const {
    if (place > 0 && values[place - 1] == values[place]) return;
    T* const row = weight + values[place] * width;
    T joined = T(0);
    for (int64_t i = threadIdx.x; i < width; i += kThreads)
      joined = norm.Joined(joined, norm.Term(row[i]));
    joined = CombineBlock<kThreads>(joined, Joined{norm});
    const T scale = ops::ScaleToNorm(norm.Root(joined), most);
    for (int64_t i = threadIdx.x; i < width; i += kThreads) row[i] *= scale;
  }
};

template <class T>
struct Gathered {
  StridedWalk<2> walk;
  int64_t stride;
  const int64_t* index;
  const T* x;
  T* y;
  __device__ void operator()(int64_t i) const {
    const auto places = walk(i);
    y[i] = x[places.at[0] + index[places.at[1]] * stride];
  }
};

// Elements of y, of the index's shape, and where they go in x: columns of the index, whose elements
// are index_stride apart, and `stride` in x.
template <class T, class Put>
struct Columns {
  StridedWalk<2> walk;
  int64_t length, index_stride, stride;
  const int64_t* index;
  const T* y;
  T* x;
  Put put;
};

template <class T, class Put>
struct PutColumn {
  Columns<T, Put> of;
  __device__ void operator()(int64_t column) const {
    const auto places = of.walk(column);
    for (int64_t k = 0; k < of.length; ++k) {
      const int64_t at = places.at[1] + k * of.index_stride;
      of.put(of.x[places.at[0] + of.index[at] * of.stride], of.y[at]);
    }
  }
};

// The same for place i of the columns, sorted: where a run of equal indices starts, all of it.
template <class T, class Put>
struct PutRun {
  Columns<T, Put> of;
  const int64_t *values, *order;
  __device__ void operator()(int64_t i) const {
    const Divided at = Divide(i, of.length);
    const int64_t column = at.quotient * of.length, value = values[i];
    if (at.rest > 0 && values[i - 1] == value) return;
    const auto places = of.walk(at.quotient);
    T& to = of.x[places.at[0] + value * of.stride];
    for (int64_t p = i; p < column + of.length && values[p] == value; ++p)
      of.put(to, of.y[places.at[1] + order[p] * of.index_stride]);
  }
};

// Where a thread for each column would leave the GPU idle, the columns are sorted.
bool AreFew(int64_t columns, int64_t length) { return length > 64 && columns < 1 << 14; }

template <class T, class Put>
void PutColumns(std::string_view op, const Columns<T, Put>& of, const Tensor& index, int dim,
                StreamHandle stream) {
  const int64_t columns = index.numel() / of.length;
  if (!AreFew(columns, of.length)) return ForEach(op, columns, stream, PutColumn<T, Put>{of});
  Dims order;
  for (int d = 0; d < index.rank(); ++d)
    if (d != dim) order.push_back(d);
  order.push_back(dim);
  const SortedIndex sorted = SortIndex(op, index.Permute(order).Contiguous(), stream);
  ForEach(op, index.numel(), stream,
          PutRun<T, Put>{of, Elements<int64_t>(sorted.values), Elements<int64_t>(sorted.order)});
}

// The columns of x along `dim` that an index which is not empty names.
template <class T, class Put>
Columns<T, Put> ColumnsOf(const Tensor& x, int dim, const Tensor& index, const T* from, T* to) {
  return {WalkOf<2>(ops::PlanGatherColumns(x, dim, index)),
          index.dim(dim),
          index.strides()[dim],
          x.strides()[dim],
          Elements<int64_t>(index),
          from,
          to,
          Put()};
}

}  // namespace

void CheckIndex(std::string_view op, int64_t bound, Tensor& index) {
  const StreamHandle stream = CurrentStream(index.device());
  const int64_t count = index.numel();
  if (count == 0) return;
  // If there are no values at all, no index is safe.
  DeferredChecks* const later = bound > 0 ? DeferredChecks::Here(index.device()) : nullptr;
  if (later == nullptr) return CheckNow(op, index, bound, stream);
  const auto fail = [name = std::string(op), bound](int64_t at, int64_t value) {
    FailIndex(name, value, at, bound);
  };
  index = SafeValues(op, index, 0, IsWithin{bound}, *later, fail, stream);
}

void SelectRows(std::string_view op, const Tensor& x, const Tensor& index, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  ops::VisitBySize(x.dtype(), [&]<class T>(T) {
    ForEach(op, y.numel(), stream,
            SelectedRow<T>{x.dim(1), x.dim(2), index.numel(), Elements<int64_t>(index),
                           ElementsBySize<T>(x), MutableElementsBySize<T>(y)});
  });
}

void AddRows(std::string_view op, const Tensor& dy, const Tensor& index, int64_t skip, Tensor& dx) {
  const StreamHandle stream = CurrentStream(dx.device());
  Fill(dx, 0);
  if (dy.numel() == 0) return;
  const SortedIndex sorted = SortIndex(op, index.View({index.numel()}), stream);
  ops::VisitNumbers(op, dx.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(op, dy.numel(), stream,
            AddRun<T>{dx.dim(1), dx.dim(2), index.numel(), skip, Elements<int64_t>(sorted.values),
                      Elements<int64_t>(sorted.order), Elements<T>(dy), MutableElements<T>(dx)});
  });
}

void RenormRows(const Tensor& index, double most, double p, Tensor& weight) {
  const StreamHandle stream = CurrentStream(weight.device());
  if (index.numel() == 0) return;
  const int64_t width = weight.dim(1);
  const SortedIndex sorted = SortIndex("embedding", index.View({index.numel()}), stream);
  VisitCompute("embedding", weight.dtype(), [&]<class T>(ComputeType<T>) {
    ForEachRow("embedding", index.numel(), width, stream,
               RenormRun<T>{
                   width, {p}, most, Elements<int64_t>(sorted.values), MutableElements<T>(weight)});
  });
}

void Gather(const Tensor& x, int dim, const Tensor& index, Tensor& y) {
  const StreamHandle stream = CurrentStream(y.device());
  ops::VisitBySize(x.dtype(), [&]<class T>(T) {
    ForEach(
        "gather", y.numel(), stream,
        Gathered<T>{WalkOf<2>(ops::PlanGather(x, dim, index)), x.strides()[dim],
                    Elements<int64_t>(index), ElementsBySize<T>(x), MutableElementsBySize<T>(y)});
  });
}

void AddColumns(std::string_view op, const Tensor& y, int dim, const Tensor& index, Tensor& x) {
  const StreamHandle stream = CurrentStream(x.device());
  if (index.numel() == 0) return;
  ops::VisitNumbers(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    PutColumns(op, ColumnsOf<T, ops::AddTo>(x, dim, index, Elements<T>(y), MutableElements<T>(x)),
               index, dim, stream);
  });
}

void Scatter(const Tensor& y, int dim, const Tensor& index, Tensor& x) {
  const StreamHandle stream = CurrentStream(x.device());
  if (index.numel() == 0) return;
  ops::VisitBySize(x.dtype(), [&]<class T>(T) {
    PutColumns("scatter",
               ColumnsOf<T, ops::WriteTo>(x, dim, index, ElementsBySize<T>(y),
                                          MutableElementsBySize<T>(x)),
               index, dim, stream);
  });
}

}  // namespace torus::cuda
