// Copies and casts between any strides: dimensions are merged where both tensors allow it, and the
// elements are split among the threads whatever the shape.
#include <algorithm>
#include <type_traits>

#include "runtime/broadcast.h"
#include "runtime/copy_bytes.h"
#include "runtime/cpu/cast_elements.h"
#include "runtime/cpu/kernels.h"
#include "runtime/parallel_for.h"

namespace torus::cpu {
namespace {

constexpr int64_t kGrain = 1 << 15;  // fewest elements that are worth waking a thread

// Per step of a dimension, in elements.
struct Steps {
  int64_t in, out;
};

Steps StepsOf(const BroadcastPlan& plan, int dim) {
  return {plan.strides[0][dim], plan.strides[1][dim]};
}

// A matrix of the last two dimensions of a plan, and its offsets in the operands.
class Plane {
 public:
  Plane(const BroadcastPlan& plan, int64_t number)
      : plan_(plan), index_(Dims::Filled(plan.shape.rank() - 2, 0)) {
    for (int d = index_.rank() - 1; d >= 0; --d) {
      index_[d] = number % plan.shape[d];
      number /= plan.shape[d];
      Move(d, index_[d]);
    }
  }
  void Next() {
    for (int d = index_.rank() - 1; d >= 0; --d) {
      Move(d, 1);
      if (++index_[d] < plan_.shape[d]) return;
      Move(d, -plan_.shape[d]);
      index_[d] = 0;
    }
  }
  const Steps& offset() const { return offset_; }

 private:
  void Move(int dim, int64_t by) {
    const Steps steps = StepsOf(plan_, dim);
    offset_.in += by * steps.in;
    offset_.out += by * steps.out;
  }
  const BroadcastPlan& plan_;
  Dims index_;
  Steps offset_ = {0, 0};
};

// The fewest consecutive elements that are worth a call.
template <class From, class To>
constexpr int64_t kDense = std::is_same_v<From, To> ? 1024 : 16;

// `rows` runs of `count` elements.
template <class From, class To>
void CopyRows(const From* in, To* out, int64_t rows, const Steps& down, int64_t count,
              const Steps& across) {
  const int64_t in_step = across.in, out_step = across.out;
  if (in_step == 1 && out_step == 1 && count >= kDense<From, To>) {
    for (int64_t r = 0; r < rows; ++r) CastElements(in + r * down.in, count, out + r * down.out);
    return;
  }
  for (int64_t r = 0; r < rows; ++r, in += down.in, out += down.out)
    for (int64_t i = 0; i < count; ++i) out[i * out_step] = CastElement<To>(in[i * in_step]);
}

// Elements [begin, end) of the plan, of at least two dimensions, in row-major order: whole rows of
// a plane in one call.
template <class From, class To>
void CopyPart(const BroadcastPlan& plan, const From* in, To* out, int64_t begin, int64_t end) {
  const int last = plan.shape.rank() - 1;
  const int64_t width = plan.shape[last], height = plan.shape[last - 1];
  const Steps across = StepsOf(plan, last), down = StepsOf(plan, last - 1);
  Plane plane(plan, begin / width / height);
  for (int64_t row = begin / width % height; begin < end;) {
    const int64_t column = begin % width;
    const bool whole = column == 0 && end - begin >= width;
    const int64_t rows = whole ? std::min(height - row, (end - begin) / width) : 1;
    const int64_t count = whole ? width : std::min(width - column, end - begin);
    CopyRows(in + plane.offset().in + row * down.in + column * across.in,
             out + plane.offset().out + row * down.out + column * across.out, rows, down, count,
             across);
    begin += rows * count;
    row += whole ? rows : (column + count) / width;
    if (row < height) continue;
    plane.Next();
    row = 0;
  }
}

// Merged, with at least two dimensions.
BroadcastPlan PlanOf(const Strides& in, const Strides& out, const Shape& shape) {
  const BroadcastPlan merged = MergedPlan({.shape = shape, .strides = {in, out}, .operands = 2});
  if (merged.shape.rank() >= 2) return merged;
  BroadcastPlan plan{.operands = 2};
  const bool scalar = merged.shape.rank() == 0;
  plan.shape = {1, scalar ? 1 : merged.shape[0]};
  for (int k = 0; k < 2; ++k) plan.strides[k] = {0, scalar ? 1 : merged.strides[k][0]};
  return plan;
}

template <class From, class To>
void CopyStrided(const From* in, const Strides& in_strides, To* out, const Strides& out_strides,
                 const Shape& shape) {
  const int64_t count = Numel(shape);
  if (count == 0) return;
  const BroadcastPlan plan = PlanOf(in_strides, out_strides, shape);
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
