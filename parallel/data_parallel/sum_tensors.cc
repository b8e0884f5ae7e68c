#include "parallel/data_parallel/sum_tensors.h"

#include <span>

#include "parallel/collectives/all_reduce.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

template <class T>
void Sum(Transport& ranks, Tensor& sum, const std::string& what) {
  AllReduce<T>(ranks, std::span(sum.mutable_data<T>(), static_cast<size_t>(sum.numel())), what);
}

}  // namespace

Tensor SumTensors(Transport& ranks, const Tensor& own, const std::string& what) {
  TORUS_CHECK(IsFloating(own.dtype()), "cannot sum {} over ranks", own);
  const DType summed = own.dtype() == DType::kF64 ? DType::kF64 : DType::kF32;
  Tensor sum = own.To(Device{}).To(summed).Contiguous();
  if (sum.storage() == own.storage()) sum = sum.Clone();
  if (summed == DType::kF64)
    Sum<double>(ranks, sum, what);
  else
    Sum<float>(ranks, sum, what);
  return sum.To(own.dtype()).To(own.device());
}

}  // namespace torus::parallel
