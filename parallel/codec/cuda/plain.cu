#include <algorithm>

#include "parallel/codec/kernels.h"
#include "parallel/codec/small_float_bits.h"
#include "runtime/cuda/elements.h"
//
#include "parallel/codec/cuda/dynamic8_codes.h"
#include "parallel/codec/cuda/small_float_codes.h"
#include "parallel/codec/cuda/uniform_codes.h"
#include "parallel/codec/cuda/visit_values.h"

namespace torus::parallel::cuda {
namespace {

using torus::cuda::Elements;
using torus::cuda::Launch;
using torus::cuda::MutableElements;

constexpr const char* kOp = "codec";
static_assert(sizeof(Extent) <= kPlainScratch);

// The number of thread blocks for `count` values, of which a thread takes `of_thread` at a time.
unsigned BlocksFor(int64_t count, int64_t of_thread) {
  constexpr int64_t kMost = 2048;
  const int64_t of_block = of_thread * kPlainThreads;
  return static_cast<unsigned>(std::clamp<int64_t>((count + of_block - 1) / of_block, 1, kMost));
}

// Runs in one thread.
__global__ void FinishKernel(const Extent* extent, int64_t bytes, int64_t* written) {
  *written = extent->non_finite != 0 ? 0 : bytes;
}

// The work on one tensor of T.
template <class T>
struct Encoder {
  const T* values;
  int64_t count;
  uint8_t* out;
  Extent* extent;
  StreamHandle stream;

  template <class Kernel, class... Arguments>
  void Run(int64_t of_thread, Kernel kernel, Arguments... arguments) const {
    Launch(kOp, BlocksFor(count, of_thread), kPlainThreads, 0, stream, kernel, arguments...);
  }

  void FindExtent() const {
    Run(8, ExtentKernel<T>, values, count, IsAlignedForFour(values), extent);
  }
  void Uniform(int bits) const {
    FindExtent();
    Launch(kOp, 1, 1, 0, stream, UniformHeaderKernel, extent, count, bits,
           reinterpret_cast<float*>(out));
    Run(8, UniformEncodeKernel<T>, values, count, bits, extent, out);
  }
  template <class Format>
  void Sixteen() const {
    Run(4, Encode16Kernel<T, Format>, values, count, extent, reinterpret_cast<uint16_t*>(out));
  }
  template <class F>
  void Eight() const {
    FindExtent();
    Launch(kOp, 1, 1, 0, stream, Float8HeaderKernel<F>, extent, count,
           reinterpret_cast<int32_t*>(out));
    Run(4, Encode8Kernel<T, F>, values, count, extent, out);
  }
  void Dynamic8(int64_t block, const Numbers8& numbers) const {
    const int64_t of_thread = (block + kPlainThreads - 1) / kPlainThreads;
    Run(of_thread, Dynamic8EncodeKernel<T>, values, count, block, numbers, extent, out);
  }
  void Encode(const PlainFormat& format, const Numbers8& numbers) const {
    switch (format.codec) {
      case PlainCodec::kUniform:
        return Uniform(format.bits);
      case PlainCodec::kF16:
        return Sixteen<FiniteHalf>();
      case PlainCodec::kBF16:
        return Sixteen<FiniteBFloat>();
      case PlainCodec::kE4M3:
        return Eight<E4M3>();
      case PlainCodec::kE5M2:
        return Eight<E5M2>();
      case PlainCodec::kDynamic8:
        return Dynamic8(format.block, numbers);
    }
  }
};

template <class T>
struct Decoder {
  const uint8_t* in;
  int64_t count;
  T* out;
  StreamHandle stream;

  template <class Kernel, class... Arguments>
  void Run(int64_t of_thread, Kernel kernel, Arguments... arguments) const {
    Launch(kOp, BlocksFor(count, of_thread), kPlainThreads, 0, stream, kernel, arguments...);
  }
  template <class Format>
  void Sixteen() const {
    Run(4, Decode16Kernel<T, Format>, reinterpret_cast<const uint16_t*>(in), count, out);
  }
  void Decode(const PlainFormat& format, const Numbers8& numbers) const {
    switch (format.codec) {
      case PlainCodec::kUniform:
        return Run(8, UniformDecodeKernel<T>, in, count, format.bits, out);
      case PlainCodec::kF16:
        return Sixteen<FiniteHalf>();
      case PlainCodec::kBF16:
        return Sixteen<FiniteBFloat>();
      case PlainCodec::kE4M3:
        return Run(4, Decode8Kernel<T, E4M3>, in, count, out);
      case PlainCodec::kE5M2:
        return Run(4, Decode8Kernel<T, E5M2>, in, count, out);
      case PlainCodec::kDynamic8:
        return Run(4, Dynamic8DecodeKernel<T>, in, count, format.block, numbers, out);
    }
  }
};

}  // namespace

void PlainEncode(const Tensor& in, const PlainFormat& format, const Numbers8& numbers, Tensor& out,
                 Tensor& written, Tensor& scratch) {
  const StreamHandle stream = CurrentStream(in.device());
  Extent* const extent = reinterpret_cast<Extent*>(MutableElements<uint8_t>(scratch));
  Launch(kOp, 1, 1, 0, stream, BeginExtentKernel, extent);
  VisitValues(in, [&](auto zero) {
    using T = decltype(zero);
    const Encoder<T> encoder{Elements<T>(in), in.numel(), MutableElements<uint8_t>(out), extent,
                             stream};
    encoder.Encode(format, numbers);
  });
  Launch(kOp, 1, 1, 0, stream, FinishKernel, extent,
         static_cast<int64_t>(format.EncodedBytes(in.numel())), MutableElements<int64_t>(written));
}

void PlainDecode(const Tensor& in, const PlainFormat& format, const Numbers8& numbers,
                 Tensor& out) {
  const StreamHandle stream = CurrentStream(out.device());
  if (out.numel() == 0) return;
  VisitValues(out, [&](auto zero) {
    using T = decltype(zero);
    const Decoder<T> decoder{Elements<uint8_t>(in), out.numel(), MutableElements<T>(out), stream};
    decoder.Decode(format, numbers);
  });
}

}  // namespace torus::parallel::cuda
