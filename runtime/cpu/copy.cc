// Copies and casts between any strides: dimensions are merged where both tensors allow it, and the
// elements are split among the threads whatever the shape.
#include <algorithm>

#include "runtime/broadcast.h"
#include "runtime/copy_bytes.h"
#include "runtime/cpu/cast_elements.h"
#include "runtime/cpu/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kGrain = 1 << 15;  // fewest elements that are worth waking a thread

// An index of the outer dimensions of a plan of two operands, and its offsets in them.
class OuterIndex {
 public:
  OuterIndex(const BroadcastPlan& plan, int64_t row)
      : plan_(plan), index_(Dims::Filled(plan.shape.rank() - 1, 0)) {
    for (int d = index_.rank() - 1; d >= 0; --d) {
      index_[d] = row % plan.shape[d];
      row /= plan.shape[d];
      in_ += index_[d] * plan.strides[0][d];
      out_ += index_[d] * plan.strides[1][d];
    }
  }
  void Next() {
    for (int d = index_.rank() - 1; d >= 0; --d) {
      in_ += plan_.strides[0][d];
      out_ += plan_.strides[1][d];
      if (++index_[d] < plan_.shape[d]) return;
      in_ -= plan_.strides[0][d] * plan_.shape[d];
      out_ -= plan_.strides[1][d] * plan_.shape[d];
      index_[d] = 0;
    }
  }
  int64_t in() const { return in_; }
  int64_t out() const { return out_; }

 private:
  const BroadcastPlan& plan_;
  Dims index_;
  int64_t in_ = 0, out_ = 0;
};

constexpr int64_t kDense = 16;  // fewest elements that are worth a call

template <class From, class To>
void CopyRun(const From* in, int64_t in_step, To* out, int64_t out_step, int64_t count) {
  if (in_step == 1 && out_step == 1 && count >= kDense) return CastElements(in, count, out);
  for (int64_t i = 0; i < count; ++i) out[i * out_step] = CastElement<To>(in[i * in_step]);
}

// Elements [begin, end) of the plan, in row-major order.
template <class From, class To>
void CopyPart(const BroadcastPlan& plan, const From* in, To* out, int64_t begin, int64_t end) {
  const int last = plan.shape.rank() - 1;
  const int64_t width = plan.shape[last];
  const int64_t in_step = plan.strides[0][last], out_step = plan.strides[1][last];
  int64_t column = begin % width;
  for (OuterIndex row(plan, begin / width); begin < end; row.Next()) {
    const int64_t count = std::min(width - column, end - begin);
    CopyRun(in + row.in() + column * in_step, in_step, out + row.out() + column * out_step,
            out_step, count);
    begin += count;
    column = 0;
  }
}

template <class From, class To>
void CopyStrided(const From* in, const Strides& in_strides, To* out, const Strides& out_strides,
                 const Shape& shape) {
  const BroadcastPlan plan =
      MergedPlan({.shape = shape, .strides = {in_strides, out_strides}, .operands = 2});
  const int64_t count = Numel(shape);
  if (count == 0) return;
  if (plan.shape.rank() == 0) return CopyRun(in, 1, out, 1, 1);
  ParallelFor(count, kGrain,
              [&](int64_t begin, int64_t end) { CopyPart(plan, in, out, begin, end); });
}

void CopyFlat(const void* in, void* out, size_t bytes) {
  ParallelFor(static_cast<int64_t>(bytes), 4 * kGrain, [&](int64_t begin, int64_t end) {
    CopyBytes(static_cast<char*>(out) + begin, static_cast<const char*>(in) + begin, end - begin);
  });
}

}  // namespace

void Fill(Tensor& out, double value) {
  VisitDType(out.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T v = CastElement<T>(value);
    T* p = out.mutable_data<T>();
    if (out.is_contiguous()) {
      ParallelFor(out.numel(), kGrain,
                  [&](int64_t begin, int64_t end) { std::fill(p + begin, p + end, v); });
    } else {
      // Each element once, also where dimensions repeat it: threads may not share one.
      Shape shape = out.shape();
      for (int d = 0; d < shape.rank(); ++d)
        if (out.strides()[d] == 0) shape[d] = std::min<int64_t>(shape[d], 1);
      CopyStrided(&v, Dims::Filled(out.rank(), 0), p, out.strides(), shape);
    }
  });
}

void Copy(const Tensor& in, Tensor& out) {
  if (in.dtype() == out.dtype() && in.is_contiguous() && out.is_contiguous())
    return CopyFlat(in.raw(), out.mutable_raw(), in.bytes());
  VisitDType(in.dtype(), [&](auto from) {
    VisitDType(out.dtype(), [&](auto to) {
      using From = decltype(from);
      using To = decltype(to);
      CopyStrided(in.data<From>(), in.strides(), out.mutable_data<To>(), out.strides(), in.shape());
    });
  });
}

}  // namespace torus::cpu
