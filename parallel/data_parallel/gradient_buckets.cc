#include "parallel/data_parallel/gradient_buckets.h"

#include <numeric>
#include <utility>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {

std::vector<std::vector<size_t>> SplitIntoBuckets(const std::vector<NamedVariable>& parameters,
                                                  const std::vector<size_t>& chosen,
                                                  size_t bucket_bytes) {
  std::vector<std::vector<size_t>> buckets;
  size_t bytes = 0;
  for (auto it = chosen.rbegin(); it != chosen.rend(); ++it) {
    const auto& [name, value] = parameters[*it];
    Require(value.dtype() == DType::kF32 || value.dtype() == DType::kF64, "data-parallel",
            "parameters are f32 or f64, {} is {}", name, value);
    if (buckets.empty() || bytes + value.data().bytes() > bucket_bytes ||
        parameters[buckets.back().back()].value.dtype() != value.dtype()) {
      buckets.emplace_back();
      bytes = 0;
    }
    bytes += value.data().bytes();
    buckets.back().push_back(*it);
  }
  return buckets;
}

GradientBuckets::GradientBuckets(const std::vector<NamedVariable>& parameters,
                                 size_t bucket_bytes) {
  std::vector<size_t> all(parameters.size());
  std::iota(all.begin(), all.end(), size_t{0});
  for (const std::vector<size_t>& places : SplitIntoBuckets(parameters, all, bucket_bytes)) {
    Bucket& bucket = buckets_.emplace_back();
    for (const size_t place : places) bucket.parameters.push_back(parameters[place]);
    int64_t count = 0;
    for (const NamedVariable& parameter : bucket.parameters) {
      bucket.begins.push_back(count);
      count += parameter.value.numel();
    }
    bucket.begins.push_back(count);
    count += static_cast<int64_t>(bucket.parameters.size());
    bucket.flat = Empty({count}, bucket.parameters.front().value.dtype());
  }
}

std::string GradientBuckets::Describe(int i) const {
  const std::vector<NamedVariable>& parameters = buckets_[i].parameters;
  return fmt::format("bucket {} ({} .. {})", i, parameters.front().name, parameters.back().name);
}

Tensor GradientBuckets::Window(const Bucket& bucket, size_t parameter) {
  const Shape& shape = bucket.parameters[parameter].value.shape();
  return bucket.flat.Narrow(0, bucket.begins[parameter], Numel(shape)).View(shape);
}

Tensor GradientBuckets::Count(const Bucket& bucket, size_t parameter) {
  return bucket.flat.Select(0, bucket.begins.back() + static_cast<int64_t>(parameter));
}

Tensor GradientBuckets::Behind(int i) {
  const Bucket& bucket = buckets_[i];
  return bucket.flat.Narrow(0, bucket.begins.back(),
                            static_cast<int64_t>(bucket.parameters.size()));
}

void GradientBuckets::Fill(int i) {
  Bucket& bucket = buckets_[i];
  for (size_t p = 0; p < bucket.parameters.size(); ++p) {
    const Tensor& grad = bucket.parameters[p].value.grad();
    Tensor window = Window(bucket, p), count = Count(bucket, p);
    torus::Fill(count, grad.defined() ? 1 : 0);
    if (grad.defined())
      Copy(grad, window);
    else
      torus::Fill(window, -0.0);  // leaves what it is added to as it is, -0 too
  }
}

void GradientBuckets::Unfill(int i) {
  Bucket& bucket = buckets_[i];
  for (size_t p = 0; p < bucket.parameters.size(); ++p) {
    if (Count(bucket, p).Item() == 0) continue;
    Variable& parameter = bucket.parameters[p].value;
    Tensor grad = parameter.grad();
    // A gradient may share its memory with another tensor only where it is strided.
    if (!grad.defined() || !grad.is_contiguous())
      grad = Empty(parameter.shape(), parameter.dtype(), parameter.data().device());
    Copy(Window(bucket, p), grad);
    parameter.SetGrad(std::move(grad));
  }
}

}  // namespace torus::parallel
