#include "parallel/data_parallel/data_parallel.h"

#include <cstddef>
#include <span>
#include <utility>

#include "parallel/collectives/broadcast.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

template <class T>
std::span<T> Elements(Tensor& tensor) {
  return {tensor.mutable_data<T>(), static_cast<size_t>(tensor.numel())};
}

void BroadcastTensor(Transport& transport, Tensor& tensor, const std::string& name) {
  Require(tensor.is_contiguous(), "data-parallel", "{} must be contiguous", name);
  Broadcast(transport, {static_cast<std::byte*>(tensor.mutable_raw()), tensor.bytes()}, 0,
            "broadcast of " + name);
}

}  // namespace

DataParallel::DataParallel(Transport& replicas, std::vector<NamedVariable> parameters,
                           DataParallelOptions options)
    : replicas_(replicas),
      parameters_(std::move(parameters)),
      buckets_(parameters_, options.bucket_bytes),
      all_reduce_(options.all_reduce) {}

void DataParallel::ReduceGradients(const std::string& what) {
  if (replicas_.size() == 1) return;
  for (int i = 0; i < buckets_.size(); ++i) {
    const std::string name = fmt::format("all-reduce of {}, {}", buckets_.Describe(i), what);
    buckets_.Fill(i);
    VisitCompute("data-parallel", buckets_.bucket(i).dtype(), [&]<class T>(ComputeType<T>) {
      AllReduce(replicas_, Elements<T>(buckets_.bucket(i)), name, all_reduce_);
    });
    buckets_.Unfill(i);
  }
}

void DataParallel::BroadcastState(const std::vector<NamedTensor>& buffers) {
  for (NamedVariable& parameter : parameters_) {
    BroadcastTensor(replicas_, parameter.value.mutable_data(), parameter.name);
  }
  BroadcastBuffers(buffers);
}

void DataParallel::BroadcastBuffers(const std::vector<NamedTensor>& buffers) {
  for (NamedTensor buffer : buffers) BroadcastTensor(replicas_, buffer.value, buffer.name);
}

uint64_t DataParallel::BytesPerStep() const {
  uint64_t bytes = 0;
  for (int i = 0; i < buckets_.size(); ++i) {
    const Tensor& flat = buckets_.bucket(i);
    bytes += AllReduceBytesSent(all_reduce_, replicas_.size(), replicas_.rank(), flat.numel(),
                                SizeOf(flat.dtype()));
  }
  return bytes;
}

}  // namespace torus::parallel
