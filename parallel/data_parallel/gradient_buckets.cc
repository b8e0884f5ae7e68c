#include "parallel/data_parallel/gradient_buckets.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "runtime/copy_bytes.h"
#include "runtime/error.h"

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
    auto count = static_cast<int64_t>(bucket.parameters.size());
    for (const NamedVariable& parameter : bucket.parameters) count += parameter.value.numel();
    bucket.flat = Empty({count}, bucket.parameters.front().value.dtype());
  }
}

std::string GradientBuckets::Describe(int i) const {
  const std::vector<NamedVariable>& parameters = buckets_[i].parameters;
  return fmt::format("bucket {} ({} .. {})", i, parameters.front().name, parameters.back().name);
}

void GradientBuckets::Fill(int i) {
  VisitCompute("data-parallel", buckets_[i].flat.dtype(),
               [&]<class T>(ComputeType<T>) { FillAs<T>(buckets_[i]); });
}

void GradientBuckets::Unfill(int i) {
  VisitCompute("data-parallel", buckets_[i].flat.dtype(),
               [&]<class T>(ComputeType<T>) { UnfillAs<T>(buckets_[i]); });
}

template <class T>
void GradientBuckets::FillAs(Bucket& bucket) {
  T* out = bucket.flat.mutable_data<T>();
  T* count = out + bucket.flat.numel() - bucket.parameters.size();
  for (const NamedVariable& parameter : bucket.parameters) {
    const int64_t elements = parameter.value.numel();
    const Tensor& grad = parameter.value.grad();
    *count++ = grad.defined() ? 1 : 0;
    if (grad.defined()) {
      CopyElements(grad.Contiguous().data<T>(), elements, out);
    } else {
      std::fill_n(out, elements, -T{0});  // leaves what it is added to as it is, -0 too
    }
    out += elements;
  }
}

template <class T>
void GradientBuckets::UnfillAs(Bucket& bucket) {
  const T* in = bucket.flat.data<T>();
  const T* count = in + bucket.flat.numel() - bucket.parameters.size();
  for (NamedVariable& parameter : bucket.parameters) {
    const Tensor& value = parameter.value.data();
    if (*count++ > 0) {
      Tensor grad = parameter.value.grad();
      // A gradient may share its memory with another tensor only where it is strided.
      if (!grad.defined() || !grad.is_contiguous()) grad = Empty(value.shape(), value.dtype());
      CopyElements(in, value.numel(), grad.mutable_data<T>());
      parameter.value.SetGrad(std::move(grad));
    }
    in += value.numel();
  }
}

}  // namespace torus::parallel
