#include "parallel/codec/plain_codec_on_gpu.h"

#include <algorithm>

#include "parallel/codec/gpu_codec_checks.h"
#include "parallel/codec/kernels.h"
#include "parallel/codec/nearest_dynamic8.h"
#include "runtime/dynamic_numbers.h"

namespace torus::parallel {
namespace {

const Numbers8& Numbers() {
  static const Numbers8* all = [] {
    auto* const made = new Numbers8;
    std::ranges::copy(DynamicNumbers(true), made->numbers);
    std::ranges::copy(NearestDynamic8().middles(), made->middles);
    return made;
  }();
  return *all;
}

}  // namespace

size_t PlainCodecOnGpu::ScratchBytes(int64_t /*count*/) const { return kPlainScratch; }

void PlainCodecOnGpu::Encode(const Tensor& in, Tensor& out, Tensor& written,
                             Tensor& scratch) const {
  RequireGpuValues(name_, in);
  RequireGpuMemory(name_, out, DType::kU8, format_.EncodedBytes(in.numel()), in.device());
  RequireGpuMemory(name_, written, DType::kI64, sizeof(int64_t), in.device());
  RequireGpuMemory(name_, scratch, DType::kU8, ScratchBytes(in.numel()), in.device());
  kernels::PlainEncode(in, format_, Numbers(), out, written, scratch);
}

void PlainCodecOnGpu::Decode(const Tensor& in, Tensor& out) const {
  RequireGpuValues(name_, out);
  RequireEncoded(name_, in, format_.EncodedBytes(out.numel()), out);
  kernels::PlainDecode(in, format_, Numbers(), out);
}

}  // namespace torus::parallel
