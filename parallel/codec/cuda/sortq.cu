#include "parallel/codec/cuda/scratch_layout.h"
#include "parallel/codec/kernels.h"
#include "runtime/cuda/elements.h"
//
#include "parallel/codec/cuda/digit_search.h"
#include "parallel/codec/cuda/equal_values.h"
#include "parallel/codec/cuda/quantize.h"
#include "parallel/codec/cuda/visit_values.h"

namespace torus::parallel::cuda {
namespace {

using torus::cuda::Elements;
using torus::cuda::Launch;
using torus::cuda::MutableElements;

template <int kBits>
struct Bits {
  static constexpr int kValue = kBits;
};

// f(Bits<bits>) for the bits of a code.
template <class F>
void VisitBits(int bits, const F& f) {
  switch (bits) {
    case 4:
      return f(Bits<4>());
    case 8:
      return f(Bits<8>());
    case 12:
      return f(Bits<12>());
    case 16:
      return f(Bits<16>());
  }
  TORUS_CHECK(false, "{} bits", bits);
}

template <class T>
void Encode(const T* values, int64_t count, SortqFormat format, uint8_t* out, int64_t* written,
            uint8_t* scratch, StreamHandle stream) {
  const ScratchLayout layout = LayoutOf(format, count);
  Search* const search = reinterpret_cast<Search*>(scratch + layout.search);
  Cuts* const cuts = reinterpret_cast<Cuts*>(scratch + layout.cuts);
  const auto words = [&](size_t at) { return reinterpret_cast<uint32_t*>(scratch + at); };
  FindKeys(values, count, format, search, words(layout.totals), stream);
  FindIndices(values, count, format, search, words(layout.parts), stream);
  Launch("sortq", 1, 32, 0, stream, MakeCutsKernel<T>, values, count, format, search, cuts, out,
         written);
  if (count == 0) return;
  VisitBits(format.bits, [&](auto bits) {
    Launch("sortq", QuantizeBlocks(count), kQuantizeThreads, 0, stream,
           QuantizeKernel<T, decltype(bits)::kValue>, values, count, IsAlignedForFour(values),
           search, cuts, out + format.HeaderBytes());
  });
}

}  // namespace

void SortqEncode(const Tensor& in, SortqFormat format, Tensor& out, Tensor& written,
                 Tensor& scratch) {
  const StreamHandle stream = CurrentStream(in.device());
  VisitValues(in, [&](auto zero) {
    Encode(Elements<decltype(zero)>(in), in.numel(), format, MutableElements<uint8_t>(out),
           MutableElements<int64_t>(written), MutableElements<uint8_t>(scratch), stream);
  });
}

void SortqDecode(const Tensor& in, SortqFormat format, Tensor& out) {
  const StreamHandle stream = CurrentStream(out.device());
  const int64_t count = out.numel();
  if (count == 0) return;
  VisitValues(out, [&](auto zero) {
    using T = decltype(zero);
    T* const values = MutableElements<T>(out);
    VisitBits(format.bits, [&](auto bits) {
      Launch("sortq", QuantizeBlocks(count), kQuantizeThreads, 0, stream,
             DequantizeKernel<T, decltype(bits)::kValue>, Elements<uint8_t>(in), count, values,
             IsAlignedForFour(values));
    });
  });
}

}  // namespace torus::parallel::cuda
