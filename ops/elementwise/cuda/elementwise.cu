#include "ops/elementwise/broadcast.h"
#include "ops/elementwise/cuda/elementwise.h"
#include "ops/elementwise/elementwise_functors.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/strided.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

template <class F, class T, class Out>
struct Combined {
  F f;
  StridedWalk<2> walk;
  const T *a, *b;
  Out* out;
  __device__ void operator()(int64_t i) const {
    const auto places = walk(i);
    out[i] = f(a[places.at[0]], b[places.at[1]]);
  }
};

// The operands of one call, with their types.
template <class T, class Out>
struct Operands {
  Operands(const Tensor& a, const Tensor& b, Tensor& out)
      : walk(WalkOf<2>(ops::PlanBroadcast(out.shape(), {&a, &b}))),
        a(Elements<T>(a)),
        b(Elements<T>(b)),
        out(MutableElements<Out>(out)),
        count(out.numel()) {}
  StridedWalk<2> walk;
  const T *a, *b;
  Out* out;
  int64_t count;
};

template <class F, class T, class Out>
void Combine(std::string_view op, const Operands<T, Out>& x, StreamHandle stream) {
  ForEach(op, x.count, stream, Combined<F, T, Out>{F{}, x.walk, x.a, x.b, x.out});
}

template <class T>
void Binary(std::string_view op, ops::BinaryOp what, const Operands<T, T>& x, StreamHandle stream) {
  switch (what) {
    case ops::BinaryOp::kAdd:
      return Combine<ops::AddFunctor>(op, x, stream);
    case ops::BinaryOp::kSub:
      return Combine<ops::SubFunctor>(op, x, stream);
    case ops::BinaryOp::kMul:
      return Combine<ops::MulFunctor>(op, x, stream);
    case ops::BinaryOp::kDiv:
      return Combine<ops::DivFunctor>(op, x, stream);
    case ops::BinaryOp::kTruncDiv:
      return Combine<ops::TruncDivFunctor>(op, x, stream);
    case ops::BinaryOp::kFloorDiv:
      return Combine<ops::FloorDivFunctor>(op, x, stream);
    case ops::BinaryOp::kMaximum:
      return Combine<ops::MaximumFunctor>(op, x, stream);
    case ops::BinaryOp::kMinimum:
      return Combine<ops::MinimumFunctor>(op, x, stream);
    case ops::BinaryOp::kPow:
      return Combine<ops::PowFunctor>(op, x, stream);
  }
}

template <class T>
void Compare(std::string_view op, ops::CompareOp what, const Operands<T, bool>& x,
             StreamHandle stream) {
  switch (what) {
    case ops::CompareOp::kEqual:
      return Combine<ops::EqualFunctor>(op, x, stream);
    case ops::CompareOp::kLess:
      return Combine<ops::LessFunctor>(op, x, stream);
    case ops::CompareOp::kLessEqual:
      return Combine<ops::LessEqualFunctor>(op, x, stream);
  }
}

template <class T>
struct Selected {
  StridedWalk<3> walk;
  const bool* mask;
  const T *a, *b;
  T* out;
  __device__ void operator()(int64_t i) const {
    const auto places = walk(i);
    out[i] = mask[places.at[0]] ? a[places.at[1]] : b[places.at[2]];
  }
};

struct InBand {
  int64_t low, high, columns;
  bool* mask;
  __device__ void operator()(int64_t i) const {
    const int64_t diagonal = i % columns - i / columns;
    mask[i] = diagonal >= low && diagonal <= high;
  }
};

}  // namespace

void Binary(std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b, Tensor& out,
            StreamHandle stream) {
  VisitCompute(op, a.dtype(), [&]<class T>(ComputeType<T>) {
    Binary(op, what, Operands<T, T>(a, b, out), stream);
  });
}

void Compare(std::string_view op, ops::CompareOp what, const Tensor& a, const Tensor& b,
             Tensor& out, StreamHandle stream) {
  VisitCompute(op, a.dtype(), [&]<class T>(ComputeType<T>) {
    Compare(op, what, Operands<T, bool>(a, b, out), stream);
  });
}

void Select(std::string_view op, const Tensor& mask, const Tensor& a, const Tensor& b, Tensor& out,
            StreamHandle stream) {
  const auto walk = WalkOf<3>(ops::PlanBroadcast(out.shape(), {&mask, &a, &b}));
  VisitCompute(op, a.dtype(), [&]<class T>(ComputeType<T>) {
    ForEach(op, out.numel(), stream,
            Selected<T>{walk, Elements<bool>(mask), Elements<T>(a), Elements<T>(b),
                        MutableElements<T>(out)});
  });
}

void Band(std::string_view op, int64_t low, int64_t high, Tensor& mask, StreamHandle stream) {
  ForEach(op, mask.numel(), stream, InBand{low, high, mask.dim(1), MutableElements<bool>(mask)});
}

}  // namespace torus::cuda
