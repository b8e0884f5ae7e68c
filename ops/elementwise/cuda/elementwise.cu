#include "ops/elementwise/broadcast.h"
#include "ops/elementwise/cuda/elementwise.h"
#include "ops/elementwise/elementwise_functors.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/strided.h"
//
#include "ops/cuda/floats.h"
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

// Widens the operands to f32 and rounds the result once.
template <class F, class A, class B, class Out>
struct CombinedLow {
  F f;
  StridedWalk<2> walk;
  const A* a;
  const B* b;
  Out* out;
  __device__ void operator()(int64_t i) const {
    const auto places = walk(i);
    out[i] = RoundedTo<Out>(f(Widened(a[places.at[0]]), Widened(b[places.at[1]])));
  }
};

template <class F, class A, class B, class Out>
void CombineLow(std::string_view op, const Tensor& a, const Tensor& b, Tensor& out,
                StreamHandle stream) {
  ForEach(op, out.numel(), stream,
          CombinedLow<F, A, B, Out>{F{}, WalkOf<2>(ops::PlanBroadcast(out.shape(), {&a, &b})),
                                    Elements<A>(a), Elements<B>(b), MutableElements<Out>(out)});
}

template <class Low>
void BinaryLowOf(std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b,
                 Tensor& out, StreamHandle stream) {
  TORUS_CHECK(what == ops::BinaryOp::kAdd || what == ops::BinaryOp::kMul,
              "{} of 16 bits has no kernel", op);
  if (what == ops::BinaryOp::kMul)
    return CombineLow<ops::MulFunctor, Low, Low, Low>(op, a, b, out, stream);
  if (a.dtype() == b.dtype())
    return CombineLow<ops::AddFunctor, Low, Low, Low>(op, a, b, out, stream);
  if (a.dtype() == DType::kF32)
    return CombineLow<ops::AddFunctor, float, Low, float>(op, a, b, out, stream);
  CombineLow<ops::AddFunctor, Low, float, float>(op, a, b, out, stream);
}

void BinaryLow(std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b,
               Tensor& out, StreamHandle stream) {
  const DType low = IsLow(a.dtype()) ? a.dtype() : b.dtype();
  if (low == DType::kBF16) return BinaryLowOf<BFloat16>(op, what, a, b, out, stream);
  BinaryLowOf<Float16>(op, what, a, b, out, stream);
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
  if (IsLow(a.dtype()) || IsLow(b.dtype())) return BinaryLow(op, what, a, b, out, stream);
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
