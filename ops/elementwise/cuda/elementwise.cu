#include <string>
#include <type_traits>

#include "ops/elementwise/broadcast.h"
#include "ops/elementwise/elementwise_functors.h"
#include "ops/elementwise/kernels.h"
#include "ops/elementwise/value_types.h"
#include "ops/sum/running_type.h"
#include "runtime/cuda/elements.h"
#include "runtime/cuda/strided.h"
//
#include "ops/cuda/floats.h"
#include "runtime/cuda/for_each.h"
#include "runtime/cuda/map_packs.h"
#include "runtime/cuda/safe_values.h"

namespace torus::cuda {
namespace {

// Widens 16-bit operands to f32 and rounds the result once.
template <class F, class A, class B, class Out>
struct Combination {
  __device__ Out operator()(A a, B b) const {
    if constexpr (std::is_same_v<Out, bool>)
      return F()(Widened(a), Widened(b));
    else
      return RoundedTo<Out>(F()(Widened(a), Widened(b)));
  }
};

template <class F, class A, class B, class Out>
struct Combined {
  StridedWalk<2> walk;
  const A* a;
  const B* b;
  Out* out;
  __device__ void operator()(int64_t i) const {
    const auto places = walk(i);
    out[i] = Combination<F, A, B, Out>()(a[places.at[0]], b[places.at[1]]);
  }
};

// The operands of one call, with their types.
template <class A, class B, class Out>
struct Operands {
  Operands(const Tensor& a, const Tensor& b, Tensor& out)
      : plan(ops::PlanBroadcast(out.shape(), {&a, &b})),
        a(Elements<A>(a)),
        b(Elements<B>(b)),
        out(MutableElements<Out>(out)),
        count(out.numel()) {}
  // Whether each is contiguous or a single element.
  bool AreFlat() const {
    const auto flat = [&](int k) { return plan.strides[k][0] == 0 || plan.strides[k][0] == 1; };
    return plan.shape.rank() == 1 && flat(0) && flat(1);
  }
  bool IsSingle(int k) const { return plan.strides[k][0] == 0; }

  BroadcastPlan plan;
  const A* a;
  const B* b;
  Out* out;
  int64_t count;
};

template <class F, class A, class B, class Out>
void Combine(std::string_view op, const Operands<A, B, Out>& x, StreamHandle stream) {
  if (x.AreFlat())
    return RunMap(op, x.count, stream,
                  BinaryMap<Combination<F, A, B, Out>, Out, A, B>{
                      {}, x.out, {x.a, x.IsSingle(0)}, {x.b, x.IsSingle(1)}});
  ForEach(op, x.count, stream, Combined<F, A, B, Out>{WalkOf<2>(x.plan), x.a, x.b, x.out});
}

template <class T>
void Binary(std::string_view op, ops::BinaryOp what, const Operands<T, T, T>& x,
            StreamHandle stream) {
  switch (what) {
    case ops::BinaryOp::kAdd:
      return Combine<ops::AddFunctor>(op, x, stream);
    case ops::BinaryOp::kSub:
      return Combine<ops::SubFunctor>(op, x, stream);
    case ops::BinaryOp::kMul:
      return Combine<ops::MulFunctor>(op, x, stream);
    case ops::BinaryOp::kTruncDiv:
      return Combine<ops::TruncDivFunctor>(op, x, stream);
    case ops::BinaryOp::kFloorDiv:
      return Combine<ops::FloorDivFunctor>(op, x, stream);
    case ops::BinaryOp::kRemainder:
      return Combine<ops::RemainderFunctor>(op, x, stream);
    case ops::BinaryOp::kFmod:
      return Combine<ops::FmodFunctor>(op, x, stream);
    case ops::BinaryOp::kMaximum:
      return Combine<ops::MaximumFunctor>(op, x, stream);
    case ops::BinaryOp::kMinimum:
      return Combine<ops::MinimumFunctor>(op, x, stream);
    default:
      if constexpr (std::is_floating_point_v<T>)
        return what == ops::BinaryOp::kDiv ? Combine<ops::DivFunctor>(op, x, stream)
                                           : Combine<ops::PowFunctor>(op, x, stream);
      else
        TORUS_CHECK(false, "operation {} of i64", static_cast<int>(what));
  }
}

template <class Low>
void BinaryLowAlone(std::string_view op, ops::BinaryOp what, const Operands<Low, Low, Low>& x,
                    StreamHandle stream) {
  switch (what) {
    case ops::BinaryOp::kAdd:
      return Combine<ops::AddFunctor>(op, x, stream);
    case ops::BinaryOp::kSub:
      return Combine<ops::SubFunctor>(op, x, stream);
    case ops::BinaryOp::kMul:
      return Combine<ops::MulFunctor>(op, x, stream);
    default:
      TORUS_CHECK(false, "{} of 16 bits has no kernel", op);
  }
}

template <class Low>
void BinaryLowOf(std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b,
                 Tensor& out, StreamHandle stream) {
  if (a.dtype() == b.dtype()) return BinaryLowAlone<Low>(op, what, {a, b, out}, stream);
  TORUS_CHECK(what == ops::BinaryOp::kAdd, "{} of f32 and 16 bits has no kernel", op);
  if (a.dtype() == DType::kF32)
    return Combine<ops::AddFunctor>(op, Operands<float, Low, float>(a, b, out), stream);
  Combine<ops::AddFunctor>(op, Operands<Low, float, float>(a, b, out), stream);
}

void BinaryLow(std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b,
               Tensor& out, StreamHandle stream) {
  const DType low = IsLow(a.dtype()) ? a.dtype() : b.dtype();
  if (low == DType::kBF16) return BinaryLowOf<BFloat16>(op, what, a, b, out, stream);
  BinaryLowOf<Float16>(op, what, a, b, out, stream);
}

template <class T>
void Compare(std::string_view op, ops::CompareOp what, const Operands<T, T, bool>& x,
             StreamHandle stream) {
  switch (what) {
    case ops::CompareOp::kEqual:
      return Combine<ops::EqualFunctor>(op, x, stream);
    case ops::CompareOp::kNotEqual:
      return Combine<ops::NotEqualFunctor>(op, x, stream);
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

struct IsNotZero {
  __device__ bool operator()(int64_t value) const { return value != 0; }
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

void Binary(std::string_view op, ops::BinaryOp what, const Tensor& a, const Tensor& b,
            Tensor& out) {
  const StreamHandle stream = CurrentStream(out.device());
  if (IsLow(a.dtype()) || IsLow(b.dtype())) return BinaryLow(op, what, a, b, out, stream);
  ops::VisitNumbers(op, a.dtype(), [&]<class T>(ComputeType<T>) {
    Binary(op, what, Operands<T, T, T>(a, b, out), stream);
  });
}

void CheckDivisor(std::string_view op, Tensor& divisor) {
  if (divisor.numel() == 0) return;
  const auto fail = [name = std::string(op)](int64_t at, int64_t) {
    Throw<BadInput>(name, "an integer is divided by zero, at position {}", at);
  };
  const StreamHandle stream = CurrentStream(divisor.device());
  const auto check = [&](DeferredChecks& checks) {
    divisor = SafeValues(op, divisor, 1, IsNotZero{}, checks, fail, stream);
  };
  if (DeferredChecks* const later = DeferredChecks::Here(divisor.device())) return check(*later);
  DeferredChecks now(divisor.device());
  check(now);
  now.Report();
}

void Compare(std::string_view op, ops::CompareOp what, const Tensor& a, const Tensor& b,
             Tensor& out) {
  const StreamHandle stream = CurrentStream(out.device());
  ops::VisitValues(op, a.dtype(), [&]<class T>(ComputeType<T>) {
    Compare(op, what, Operands<T, T, bool>(a, b, out), stream);
  });
}

void Select(std::string_view op, const Tensor& mask, const Tensor& a, const Tensor& b,
            Tensor& out) {
  const StreamHandle stream = CurrentStream(out.device());
  const auto walk = WalkOf<3>(ops::PlanBroadcast(out.shape(), {&mask, &a, &b}));
  ops::VisitBySize(a.dtype(), [&]<class T>(T) {
    ForEach(op, out.numel(), stream,
            Selected<T>{walk, Elements<bool>(mask), ElementsBySize<T>(a), ElementsBySize<T>(b),
                        MutableElementsBySize<T>(out)});
  });
}

void Band(std::string_view op, int64_t low, int64_t high, Tensor& mask) {
  const StreamHandle stream = CurrentStream(mask.device());
  ForEach(op, mask.numel(), stream, InBand{low, high, mask.dim(1), MutableElements<bool>(mask)});
}

}  // namespace torus::cuda
