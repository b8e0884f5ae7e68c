#include <algorithm>
#include <cstddef>
#include <vector>

#include "ops/elementwise/cpu/broadcast_run.h"
#include "ops/elementwise/value_types.h"
#include "ops/indexing/gather_plan.h"
#include "ops/indexing/kernels.h"
#include "ops/indexing/put_functors.h"
#include "ops/indexing/row_norm.h"
#include "ops/sum/reduction_shape.h"
#include "ops/sum/running_type.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

// out[o, k, i] = in[o, index[k], i]; `inner` in bytes.
void SelectBytes(int64_t outer, int64_t rows, int64_t inner, int64_t count, const int64_t* index,
                 const std::byte* in, std::byte* out) {
  ParallelFor(outer * count, (1 << 16) / (inner + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at)
      std::copy_n(in + (at / count * rows + index[at % count]) * inner, inner, out + at * inner);
  });
}

// din[o, index[k], i] += dout[o, k, i]. Each thread owns whole columns, so equal indices add in the
// same order whatever the number of threads.
template <class T>
void AddRows(int64_t outer, int64_t rows, int64_t inner, int64_t count, const int64_t* index,
             int64_t skip, const T* dout, T* din) {
  ParallelFor(inner, (1 << 14) / (outer * count + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t r = 0; r < outer * rows; ++r)
      std::fill(din + r * inner + begin, din + r * inner + end, T(0));
    for (int64_t at = 0; at < outer * count; ++at) {
      if (index[at % count] == skip) continue;
      T* to = din + (at / count * rows + index[at % count]) * inner;
      for (int64_t i = begin; i < end; ++i) ops::AddTo()(to[i], dout[at * inner + i]);
    }
  });
}

template <class T>
void RenormRow(const ops::RowNorm& norm, double most, int64_t width, T* row) {
  SumOf<T> joined = 0;
  for (int64_t i = 0; i < width; ++i) joined = norm.Joined(joined, norm.Term<SumOf<T>>(row[i]));
  const auto scale = ops::ScaleToNorm(norm.Root(joined), most);
  if (scale == 1) return;
  for (int64_t i = 0; i < width; ++i) row[i] = static_cast<T>(row[i] * scale);
}

std::vector<int64_t> Distinct(const Tensor& index) {
  const int64_t* const p = index.data<int64_t>();
  std::vector<int64_t> values(p, p + index.numel());
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  return values;
}

// out[i] = in[place(i) + index[i] * stride] over the iteration of ops::PlanGather.
template <class T>
void Gather(const ops::BroadcastPlan& plan, const int64_t* index, int64_t stride, const T* in,
            T* out) {
  ForEachRun<2>(plan, 1 << 14,
                [=](int64_t at, const Offsets<2>& from, int64_t n, const Offsets<2>& step) {
                  for (int64_t i = 0; i < n; ++i)
                    out[at + i] = in[from[0] + i * step[0] + index[from[1] + i * step[1]] * stride];
                });
}

// Where columns [begin, begin + count) of an index along `dim` start in dx. Columns are numbered in
// row-major order of the other dimensions.
void FindColumns(const Tensor& dx, int dim, const Shape& index, int64_t begin, int64_t count,
                 std::vector<int64_t>& places) {
  places.resize(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = begin + i, place = 0;
    for (int d = index.rank() - 1; d >= 0; --d) {
      if (d == dim) continue;
      place += rest % index[d] * dx.strides()[d];
      rest /= index[d];
    }
    places[static_cast<size_t>(i)] = place;
  }
}

// put(din[place + index[k] * stride], dout[k]) along each column of the index. Each thread owns
// whole columns, and only a column's own elements meet, in their order: the bits do not depend on
// the number of threads.
template <class T, class Put>
void PutColumns(const Tensor& dx, int dim, const Tensor& index, const T* dout, T* din,
                const Put& put) {
  const Shape cut = ops::MiddleShape(index.shape(), dim, dim);
  const int64_t outer = cut[0], length = cut[1], inner = cut[2], stride = dx.strides()[dim];
  const int64_t* const at = index.data<int64_t>();
  ParallelFor(outer * inner, (1 << 14) / (length + 1) + 1, [&](int64_t begin, int64_t end) {
    std::vector<int64_t> places;
    while (begin < end) {
      const int64_t o = begin / inner, first = begin % inner;
      const int64_t count = std::min(inner - first, end - begin);
      FindColumns(dx, dim, index.shape(), begin, count, places);
      for (int64_t k = 0; k < length; ++k) {
        const int64_t from = (o * length + k) * inner + first;
        for (int64_t i = 0; i < count; ++i)
          put(din[places[static_cast<size_t>(i)] + at[from + i] * stride], dout[from + i]);
      }
      begin += count;
    }
  });
}

}  // namespace

void CheckIndex(std::string_view op, int64_t bound, Tensor& index) {
  const int64_t* p = std::as_const(index).data<int64_t>();
  for (int64_t i = 0; i < index.numel(); ++i)
    Require(p[i] >= 0 && p[i] < bound, op, "index {} at position {} is outside of [0, {})", p[i], i,
            bound);
}

void SelectRows(std::string_view, const Tensor& x, const Tensor& index, Tensor& y) {
  SelectBytes(x.dim(0), x.dim(1), x.dim(2) * static_cast<int64_t>(SizeOf(x.dtype())), index.numel(),
              index.data<int64_t>(), static_cast<const std::byte*>(x.raw()),
              static_cast<std::byte*>(y.mutable_raw()));
}

void AddRows(std::string_view op, const Tensor& dy, const Tensor& index, int64_t skip, Tensor& dx) {
  ops::VisitNumbers(op, dx.dtype(), [&]<class T>(ComputeType<T>) {
    AddRows(dx.dim(0), dx.dim(1), dx.dim(2), index.numel(), index.data<int64_t>(), skip,
            dy.data<T>(), dx.mutable_data<T>());
  });
}

void RenormRows(const Tensor& index, double most, double p, Tensor& weight) {
  const std::vector<int64_t> rows = Distinct(index);
  const int64_t width = weight.dim(1);
  VisitCompute("embedding", weight.dtype(), [&]<class T>(ComputeType<T>) {
    T* const data = weight.mutable_data<T>();
    ParallelFor(std::ssize(rows), (1 << 14) / (width + 1) + 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r)
        RenormRow(ops::RowNorm{p}, most, width, data + rows[static_cast<size_t>(r)] * width);
    });
  });
}

void Gather(const Tensor& x, int dim, const Tensor& index, Tensor& y) {
  ops::VisitBySize(x.dtype(), [&]<class T>(T) {
    Gather(ops::PlanGather(x, dim, index), index.data<int64_t>(), x.strides()[dim],
           static_cast<const T*>(x.raw()), static_cast<T*>(y.mutable_raw()));
  });
}

void AddColumns(std::string_view op, const Tensor& y, int dim, const Tensor& index, Tensor& x) {
  ops::VisitNumbers(op, x.dtype(), [&]<class T>(ComputeType<T>) {
    PutColumns(x, dim, index, y.data<T>(), x.mutable_data<T>(), ops::AddTo());
  });
}

void Scatter(const Tensor& y, int dim, const Tensor& index, Tensor& x) {
  ops::VisitBySize(x.dtype(), [&]<class T>(T) {
    PutColumns(x, dim, index, static_cast<const T*>(y.raw()), static_cast<T*>(x.mutable_raw()),
               ops::WriteTo());
  });
}

}  // namespace torus::cpu
