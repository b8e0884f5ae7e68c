#include "parallel/data_parallel/sum_tensors.h"

#include <span>

#include "runtime/error.h"
#include "runtime/stream.h"

namespace torus::parallel {
namespace {

// A copy on `device`, in memory of its own.
Tensor CopyToSum(const Tensor& own, Device device) {
  const DType summed = own.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  const Tensor sum = own.To(device).To(summed).Contiguous();
  return sum.storage() == own.storage() ? sum.Clone() : sum;
}

template <class T>
void SumOnCpu(Transport& ranks, Tensor& sum, const std::string& what) {
  AllReduce<T>(ranks, std::span(sum.mutable_data<T>(), static_cast<size_t>(sum.numel())), what);
}

void SumByEngine(Engine& engine, Tensor& sum, const std::string& what) {
  const Device device = sum.device();
  const StreamHandle stream = CurrentStream(device);
  Pending pending =
      engine.AllReduce({sum.mutable_raw(), sum.bytes(), device, stream}, sum.dtype(), what);
  if (device.kind == DeviceKind::kCuda)
    pending.WaitOn(stream);
  else
    pending.Wait();
}

}  // namespace

Tensor SumTensors(Transport& ranks, const Tensor& own, const std::string& what, Engine* engine) {
  TORUS_CHECK(IsFloating(own.dtype()), "cannot sum {} over ranks", own);
  Tensor sum = CopyToSum(own, engine != nullptr ? own.device() : Device{});
  if (engine != nullptr)
    SumByEngine(*engine, sum, what);
  else if (sum.dtype() == DType::kF64)
    SumOnCpu<double>(ranks, sum, what);
  else
    SumOnCpu<float>(ranks, sum, what);
  return sum.To(own.dtype()).To(own.device());
}

}  // namespace torus::parallel
