// The GEMM of emulated GPUs, where there is no cuBLASLt.
#include <bit>

#include "autograd/precision.h"
#include "ops/activation/activation_functors.h"
#include "ops/cuda/gemm.h"
#include "ops/cuda/gemm_plans.h"
#include "ops/cuda/product_stand_in.h"
#include "ops/cuda/proposal_stand_in.h"
#include "runtime/element_cast.h"
#include "runtime/gpu_graph.h"
//
#include "runtime/cuda/for_each.h"

namespace torus::cuda {
namespace {

constexpr int64_t kStrip = 8;  // neighbouring columns of C that one thread computes

// Element (row, column) of op(A) is at index row * down + column * across.
template <class T>
struct Steps {
  explicit Steps(const GemmMatrix<T>& m)
      : data(m.data),
        down(m.transposed ? 1 : m.stride),
        across(m.transposed ? m.stride : 1),
        batch(m.batch_stride) {}
  T* data;
  int64_t down, across, batch;
};

// An f32 as tensor cores read it in TF32: the fraction rounded to 10 bits.
inline float ToTf32(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7f800000u) == 0x7f800000u) return value;
  return std::bit_cast<float>((bits + 0xfffu + (bits >> 13 & 1u)) & ~0x1fffu);
}

// The value of C at (row, column), given what it would be without the epilogue.
template <class Sum, class Out>
__device__ Sum Finished(const GemmEpilogue<Out>& epilogue, Sum z, int64_t row, int64_t column) {
  const ops::GeluTanhFunctor gelu;
  const int64_t at = row * epilogue.stride + column;
  switch (epilogue.kind) {
    case EpilogueKind::kGelu:
      if (epilogue.out != nullptr) epilogue.out[at] = ElementCast<Out, Sum>()(z);
      return gelu.Forward(z);
    case EpilogueKind::kGeluGradient:
      return gelu.Backward(ElementCast<Sum, Out>()(epilogue.in[at]), z);
    default:
      return z;
  }
}

template <class In, class Out>
struct ProductStrip {
  using Sum = SumOf<In>;
  GemmCall<In, Out> call;
  GemmEpilogue<Out> epilogue;
  Steps<const In> a, b;
  int64_t strips;  // of a row
  bool tf32;

  __device__ Sum Read(In value) const {
    if constexpr (std::is_same_v<In, float>)
      return tf32 ? ToTf32(value) : value;
    else
      return ElementCast<Sum, In>()(value);
  }

  __device__ void operator()(int64_t i) const {
    const int64_t column = i % strips * kStrip, row = i / strips % call.m;
    const int64_t matrix = i / strips / call.m;
    const int64_t width = column + kStrip < call.n ? kStrip : call.n - column;
    const In* left = a.data + matrix * a.batch + row * a.down;
    const In* right = b.data + matrix * b.batch + column * b.across;
    Sum sums[kStrip] = {};
    for (int64_t p = 0; p < call.k; ++p)
      for (int64_t j = 0; j < width; ++j)
        sums[j] += Read(left[p * a.across]) * Read(right[p * b.down + j * b.across]);
    const ElementCast<Sum, Out> wide;
    const int64_t at = matrix * call.c.batch_stride + row * call.c.stride + column;
    Out* const out = call.c.data + at;
    const Out* const old = (call.added == nullptr ? call.c.data : call.added) + at;
    for (int64_t j = 0; j < width; ++j) {
      const Sum before = call.beta == Sum(0) ? Sum(0) : call.beta * wide(old[j]);
      const Sum added = call.bias == nullptr ? Sum(0) : wide(call.bias[column + j]);
      const Sum z = call.alpha * sums[j] + before + added;
      out[j] = ElementCast<Out, Sum>()(Finished(epilogue, z, row, column + j));
    }
  }
};

// Sums over the k elements of a row, or column, of an operand.
template <class In, class Out>
struct OperandSums {
  const In* data;
  int64_t k, along, to_next;
  Out* out;
  __device__ void operator()(int64_t i) const {
    SumOf<In> sum = 0;
    for (int64_t p = 0; p < k; ++p)
      sum += ElementCast<SumOf<In>, In>()(data[i * to_next + p * along]);
    out[i] = ElementCast<Out, SumOf<In>>()(sum);
  }
};

template <class T>
SeenMatrix Seen(const GemmMatrix<T>& m) {
  return {m.data, m.stride, m.batch_stride, m.transposed};
}

template <class In, class Out>
SeenProduct Seen(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue) {
  return {.in = kDTypeOf<In>,
          .out = kDTypeOf<Out>,
          .tf32 = std::is_same_v<In, float> && WithPrecision::Tf32(),
          .m = call.m,
          .n = call.n,
          .k = call.k,
          .batch = call.batch,
          .a = Seen(call.a),
          .b = Seen(call.b),
          .c = Seen(call.c),
          .added = call.beta == 0          ? nullptr
                   : call.added == nullptr ? call.c.data
                                           : call.added,
          .bias = call.bias,
          .epilogue = epilogue.kind,
          .epilogue_in = epilogue.in,
          .epilogue_out = epilogue.out};
}

constexpr size_t kMostPlans = 1024;

// What gemm.cu does with cuBLASLt's proposals. All proposals are the kernel above.
void Choose(const GemmShape& shape, Device device) {
  if (WithPlans::Current() == nullptr) return;
  static GemmPlans<int64_t> plans(kMostPlans);
  const std::string what = TextOf(shape);
  NoteTaken(what, plans.Get(CurrentPlansId(), shape, [&] {
    return ChooseFake(what, GpuGraph::RecordedHere(device) == nullptr);
  }));
  CountSlowOrNone(shape, true);
}

template <class In, class Out>
void Run(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue, Device device,
         StreamHandle stream) {
  if (const ProductWatch& watch = ProductStandIn::Current())
    return watch(Seen(call, epilogue), stream);
  Choose(ShapeOf(call, epilogue, WithPrecision::Tf32()), device);
  const Steps<const In> a(call.a), b(call.b);
  const int64_t strips = (call.n + kStrip - 1) / kStrip;
  ForEach("gemm", call.batch * call.m * strips, stream,
          ProductStrip<In, Out>{call, epilogue, a, b, strips, WithPrecision::Tf32()});
  if (epilogue.kind == EpilogueKind::kSumsOfA)
    ForEach("gemm", call.m, stream,
            OperandSums<In, Out>{a.data, call.k, a.across, a.down, epilogue.out});
  if (epilogue.kind == EpilogueKind::kSumsOfB)
    ForEach("gemm", call.n, stream,
            OperandSums<In, Out>{b.data, call.k, b.down, b.across, epilogue.out});
}

}  // namespace

template <class In, class Out>
void Gemm(const GemmCall<In, Out>& call, Device device, StreamHandle stream) {
  Run(call, GemmEpilogue<Out>(), device, stream);
}

template <class In, class Out>
bool GemmWithEpilogue(const GemmCall<In, Out>& call, const GemmEpilogue<Out>& epilogue,
                      Device device, StreamHandle stream) {
  if (!MayHaveEpilogue(call, epilogue)) return false;
  Run(call, epilogue, device, stream);
  return true;
}

#define TORUS_OF_TYPES_(Out, ...)                                                                \
  template void Gemm(const GemmCall<__VA_ARGS__>&, Device, StreamHandle);                        \
  template bool GemmWithEpilogue(const GemmCall<__VA_ARGS__>&, const GemmEpilogue<Out>&, Device, \
                                 StreamHandle);
TORUS_OF_PRODUCTS(TORUS_OF_TYPES_)
#undef TORUS_OF_TYPES_

}  // namespace torus::cuda
