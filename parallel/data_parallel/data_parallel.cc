#include "parallel/data_parallel/data_parallel.h"

#include <cstddef>
#include <span>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

template <class T>
std::span<T> Elements(Tensor& tensor) {
  return {tensor.mutable_data<T>(), static_cast<size_t>(tensor.numel())};
}

}  // namespace

DataParallel::DataParallel(Transport& replicas, std::vector<NamedVariable> parameters,
                           DataParallelOptions options)
    : ReplicaStrategy(replicas, std::move(parameters)),
      buckets_(replicas.size() == 1 ? std::vector<NamedVariable>() : uses(), options.bucket_bytes),
      all_reduce_(options.all_reduce) {}

void DataParallel::ReduceGradients(const std::string& what, double) {
  for (int i = 0; i < buckets_.size(); ++i) {
    const std::string name = fmt::format("all-reduce of {}, {}", buckets_.Describe(i), what);
    buckets_.Fill(i);
    VisitCompute("data-parallel", buckets_.bucket(i).dtype(), [&]<class T>(ComputeType<T>) {
      AllReduce(replicas(), Elements<T>(buckets_.bucket(i)), name, all_reduce_);
    });
    buckets_.Unfill(i);
  }
}

uint64_t DataParallel::BytesPerStep() const {
  uint64_t bytes = 0;
  for (int i = 0; i < buckets_.size(); ++i) {
    const Tensor& flat = buckets_.bucket(i);
    bytes += AllReduceBytesSent(all_reduce_, replicas().size(), replicas().rank(), flat.numel(),
                                SizeOf(flat.dtype()));
  }
  return bytes;
}

}  // namespace torus::parallel
