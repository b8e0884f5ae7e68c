#include <type_traits>
#include <utility>

#include "ops/elementwise/cpu/broadcast_run.h"
#include "ops/elementwise/elementwise_functors.h"
#include "ops/elementwise/kernels.h"
#include "ops/elementwise/value_types.h"
#include "ops/sum/running_type.h"

namespace torus::cpu {
namespace {

constexpr int64_t kGrain = 1 << 14;  // elements that are worth waking a thread for

// Separate loops for the three common step patterns, so that the compiler vectorises each.
template <class T, class Out, class F>
void Run(const F& f, const T* a, int64_t step_a, const T* b, int64_t step_b, Out* __restrict out,
         int64_t n) {
  if (step_a == 1 && step_b == 1) {
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], b[i]);
  } else if (step_a == 1 && step_b == 0) {
    const T y = *b;
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i], y);
  } else if (step_a == 0 && step_b == 1) {
    const T x = *a;
    for (int64_t i = 0; i < n; ++i) out[i] = f(x, b[i]);
  } else {
    for (int64_t i = 0; i < n; ++i) out[i] = f(a[i * step_a], b[i * step_b]);
  }
}

template <class T, class Out, class F>
void Walk(const F& f, const ops::BroadcastPlan& plan, const T* a, const T* b, Out* out) {
  ForEachRun<2>(plan, kGrain,
                [&](int64_t at, const Offsets<2>& offsets, int64_t n, const Offsets<2>& steps) {
                  Run(f, a + offsets[0], steps[0], b + offsets[1], steps[1], out + at, n);
                });
}

template <class T>
void Binary(ops::BinaryOp op, const ops::BroadcastPlan& plan, const T* a, const T* b, T* out) {
  switch (op) {
    case ops::BinaryOp::kAdd:
      return Walk(ops::AddFunctor{}, plan, a, b, out);
    case ops::BinaryOp::kSub:
      return Walk(ops::SubFunctor{}, plan, a, b, out);
    case ops::BinaryOp::kMul:
      return Walk(ops::MulFunctor{}, plan, a, b, out);
    case ops::BinaryOp::kTruncDiv:
      return Walk(ops::TruncDivFunctor{}, plan, a, b, out);
    case ops::BinaryOp::kFloorDiv:
      return Walk(ops::FloorDivFunctor{}, plan, a, b, out);
    case ops::BinaryOp::kRemainder:
      return Walk(ops::RemainderFunctor{}, plan, a, b, out);
    case ops::BinaryOp::kFmod:
      return Walk(ops::FmodFunctor{}, plan, a, b, out);
    case ops::BinaryOp::kMaximum:
      return Walk(ops::MaximumFunctor{}, plan, a, b, out);
    case ops::BinaryOp::kMinimum:
      return Walk(ops::MinimumFunctor{}, plan, a, b, out);
    default:
      if constexpr (std::is_floating_point_v<T>)
        return op == ops::BinaryOp::kDiv ? Walk(ops::DivFunctor{}, plan, a, b, out)
                                         : Walk(ops::PowFunctor{}, plan, a, b, out);
      else
        TORUS_CHECK(false, "operation {} of i64", static_cast<int>(op));
  }
}

template <class T>
void Compare(ops::CompareOp op, const ops::BroadcastPlan& plan, const T* a, const T* b, bool* out) {
  switch (op) {
    case ops::CompareOp::kEqual:
      return Walk(ops::EqualFunctor{}, plan, a, b, out);
    case ops::CompareOp::kNotEqual:
      return Walk(ops::NotEqualFunctor{}, plan, a, b, out);
    case ops::CompareOp::kLess:
      return Walk(ops::LessFunctor{}, plan, a, b, out);
    case ops::CompareOp::kLessEqual:
      return Walk(ops::LessEqualFunctor{}, plan, a, b, out);
  }
}

template <class T>
void Select(const ops::BroadcastPlan& plan, const bool* mask, const T* a, const T* b, T* out) {
  ForEachRun<3>(plan, kGrain,
                [&](int64_t at, const Offsets<3>& from, int64_t n, const Offsets<3>& step) {
                  const bool* m = mask + from[0];
                  const T *x = a + from[1], *y = b + from[2];
                  for (int64_t i = 0; i < n; ++i)
                    out[at + i] = m[i * step[0]] ? x[i * step[1]] : y[i * step[2]];
                });
}

}  // namespace

void Binary(std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b,
            Tensor& out) {
  const ops::BroadcastPlan plan = ops::PlanBroadcast(out.shape(), {&a, &b});
  ops::VisitNumbers(op, a.dtype(), [&]<class T>(ComputeType<T>) {
    Binary(what, plan, a.data<T>(), b.data<T>(), out.mutable_data<T>());
  });
}

void CheckDivisor(std::string_view op, Tensor& divisor) {
  const int64_t* p = std::as_const(divisor).data<int64_t>();
  for (int64_t i = 0; i < divisor.numel(); ++i)
    Require(p[i] != 0, op, "an integer is divided by zero, at position {}", i);
}

void Compare(std::string_view op, ops::CompareOp what, const Tensor& a, const Tensor& b,
             Tensor& out) {
  const ops::BroadcastPlan plan = ops::PlanBroadcast(out.shape(), {&a, &b});
  ops::VisitValues(op, a.dtype(), [&]<class T>(ComputeType<T>) {
    Compare(what, plan, a.data<T>(), b.data<T>(), out.mutable_data<bool>());
  });
}

void Select(std::string_view /*op*/, const Tensor& mask, const Tensor& a, const Tensor& b,
            Tensor& out) {
  const ops::BroadcastPlan plan = ops::PlanBroadcast(out.shape(), {&mask, &a, &b});
  ops::VisitBySize(a.dtype(), [&]<class T>(T) {
    Select(plan, mask.data<bool>(), static_cast<const T*>(a.raw()), static_cast<const T*>(b.raw()),
           static_cast<T*>(out.mutable_raw()));
  });
}

void Band(std::string_view /*op*/, int64_t low, int64_t high, Tensor& mask) {
  const int64_t rows = mask.dim(0), columns = mask.dim(1);
  bool* p = mask.mutable_data<bool>();
  ParallelFor(rows, (1 << 15) / (columns + 1) + 1, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      for (int64_t j = 0; j < columns; ++j) p[i * columns + j] = j - i >= low && j - i <= high;
  });
}

}  // namespace torus::cpu
