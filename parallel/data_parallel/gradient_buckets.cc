#include "parallel/data_parallel/gradient_buckets.h"

#include <cstring>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {

GradientBuckets::GradientBuckets(std::vector<NamedVariable> parameters, size_t bucket_bytes) {
  size_t bytes = 0;
  for (auto it = parameters.rbegin(); it != parameters.rend(); ++it) {
    const Variable& value = it->value;
    Require(value.dtype() == DType::kF32 || value.dtype() == DType::kF64, "data-parallel",
            "parameters are f32 or f64, {} is {}", it->name, value.data().Describe());
    if (buckets_.empty() || bytes + value.data().bytes() > bucket_bytes ||
        buckets_.back().parameters.back().value.dtype() != value.dtype()) {
      buckets_.emplace_back();
      bytes = 0;
    }
    bytes += value.data().bytes();
    buckets_.back().parameters.push_back(*it);
  }
  for (Bucket& bucket : buckets_) {
    int64_t count = 0;
    for (const NamedVariable& parameter : bucket.parameters) count += parameter.value.numel();
    bucket.flat = Empty({count}, bucket.parameters.front().value.dtype());
  }
}

std::string GradientBuckets::Describe(int i) const {
  const std::vector<NamedVariable>& parameters = buckets_[i].parameters;
  return fmt::format("bucket {} ({} .. {})", i, parameters.front().name, parameters.back().name);
}

void GradientBuckets::Fill(int i) {
  auto* out = static_cast<char*>(buckets_[i].flat.mutable_raw());
  for (const NamedVariable& parameter : buckets_[i].parameters) {
    const size_t bytes = parameter.value.data().bytes();
    const Tensor& grad = parameter.value.grad();
    if (grad.defined()) {
      std::memcpy(out, grad.Contiguous().raw(), bytes);
    } else {
      std::memset(out, 0, bytes);
    }
    out += bytes;
  }
}

void GradientBuckets::Unfill(int i) {
  const auto* in = static_cast<const char*>(buckets_[i].flat.raw());
  for (NamedVariable& parameter : buckets_[i].parameters) {
    const Tensor& value = parameter.value.data();
    Tensor grad = parameter.value.grad();
    // A gradient may share its memory with another tensor only where it is strided.
    if (!grad.defined() || !grad.is_contiguous()) grad = Empty(value.shape(), value.dtype());
    std::memcpy(grad.mutable_raw(), in, value.bytes());
    parameter.value.SetGrad(std::move(grad));
    in += value.bytes();
  }
}

}  // namespace torus::parallel
