#include "parallel/data_parallel/gradient_buckets.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "parallel/data_parallel/kernels.h"
#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus::parallel {

namespace {

// A bucket to which the next parameter may still be added.
struct OpenBucket {
  std::vector<size_t> places;
  size_t bytes = 0;
};

}  // namespace

std::vector<std::vector<size_t>> SplitIntoBuckets(const std::vector<NamedVariable>& parameters,
                                                  const std::vector<size_t>& chosen,
                                                  size_t bucket_bytes,
                                                  const std::set<std::string>& slices) {
  std::vector<std::vector<size_t>> buckets;
  OpenBucket whole, sliced;
  for (auto it = chosen.rbegin(); it != chosen.rend(); ++it) {
    const auto& [name, value] = parameters[*it];
    Require(value.dtype() == DType::kF32 || value.dtype() == DType::kF64, "data-parallel",
            "parameters are f32 or f64, {} is {}", name, value);
    OpenBucket& open = slices.contains(name) ? sliced : whole;
    if (!open.places.empty() && (open.bytes + value.data().bytes() > bucket_bytes ||
                                 parameters[open.places.back()].value.dtype() != value.dtype()))
      buckets.push_back(std::exchange(open, {}).places);
    open.bytes += value.data().bytes();
    open.places.push_back(*it);
  }
  for (OpenBucket* open : {&whole, &sliced})
    if (!open->places.empty()) buckets.push_back(std::move(open->places));
  std::ranges::sort(buckets, std::greater(), [](const auto& places) { return places.back(); });
  return buckets;
}

GradientBuckets::GradientBuckets(const std::vector<NamedVariable>& parameters, size_t bucket_bytes,
                                 Device device, const std::set<std::string>& slices) {
  std::vector<size_t> all(parameters.size());
  std::iota(all.begin(), all.end(), size_t{0});
  for (const auto& places : SplitIntoBuckets(parameters, all, bucket_bytes, slices)) {
    Bucket& bucket = buckets_.emplace_back();
    for (const size_t place : places) bucket.parameters.push_back(parameters[place]);
    int64_t count = 0;
    for (const NamedVariable& parameter : bucket.parameters) {
      bucket.begins.push_back(count);
      count += parameter.value.numel();
    }
    bucket.begins.push_back(count);
    count += static_cast<int64_t>(bucket.parameters.size());
    bucket.flat = Empty({count}, bucket.parameters.front().value.dtype(), device);
  }
}

std::string GradientBuckets::Describe(int i) const {
  const std::vector<NamedVariable>& parameters = buckets_[i].parameters;
  return fmt::format("bucket {} ({} .. {})", i, parameters.front().name, parameters.back().name);
}

// A buffer of the bucket's size on the parameters' device: the bucket itself, or a staging buffer.
Tensor GradientBuckets::Local(const Bucket& bucket) {
  const Device device = bucket.parameters.front().value.data().device();
  if (device == bucket.flat.device()) return bucket.flat;
  return Empty(bucket.flat.shape(), bucket.flat.dtype(), device);
}

Tensor GradientBuckets::Window(const Bucket& bucket, const Tensor& flat, size_t parameter) {
  const Shape& shape = bucket.parameters[parameter].value.shape();
  return flat.Narrow(0, bucket.begins[parameter], Numel(shape)).View(shape);
}

Tensor GradientBuckets::Count(const Bucket& bucket, const Tensor& flat, size_t parameter) {
  return flat.Select(0, bucket.begins.back() + static_cast<int64_t>(parameter));
}

Tensor GradientBuckets::Behind(int i) {
  const Bucket& bucket = buckets_[i];
  return bucket.flat.Narrow(0, bucket.begins.back(),
                            static_cast<int64_t>(bucket.parameters.size()));
}

void GradientBuckets::Fill(int i) {
  Bucket& bucket = buckets_[i];
  const Tensor local = Local(bucket);
  std::vector<CopyItem> items;
  for (size_t p = 0; p < bucket.parameters.size(); ++p) {
    const Tensor& grad = bucket.parameters[p].value.grad();
    // Adding -0 changes no value, not even -0.
    items.push_back({.from = grad.defined() ? grad.Contiguous() : Tensor(),
                     .to = Window(bucket, local, p),
                     .value = -0.0});
    items.push_back({.to = Count(bucket, local, p), .value = grad.defined() ? 1.0 : 0.0});
  }
  if (!items.empty()) kernels::CopyAll(items);
  if (local.device() != bucket.flat.device()) Copy(local, bucket.flat);
}

// Reads a count on a GPU only if it cannot be told otherwise.
bool GradientBuckets::SomeReplicaHas(const Bucket& bucket, size_t parameter) {
  const Variable& value = bucket.parameters[parameter].value;
  if (value.grad().defined()) return true;
  if (bucket.flat.device().kind == DeviceKind::kCuda && !value.requires_grad()) return false;
  return Count(bucket, bucket.flat, parameter).Item() != 0;
}

void GradientBuckets::Unfill(int i) {
  Bucket& bucket = buckets_[i];
  Tensor local = Local(bucket);
  if (local.device() != bucket.flat.device()) Copy(bucket.flat, local);
  std::vector<CopyItem> items;
  for (size_t p = 0; p < bucket.parameters.size(); ++p) {
    if (!SomeReplicaHas(bucket, p)) continue;
    Variable& parameter = bucket.parameters[p].value;
    Tensor grad = parameter.grad();
    // A gradient may share its memory with another tensor only where it is strided.
    if (!grad.defined() || !grad.is_contiguous())
      grad = Empty(parameter.shape(), parameter.dtype(), parameter.data().device());
    items.push_back({.from = Window(bucket, local, p), .to = grad});
    parameter.SetGrad(std::move(grad));
  }
  if (!items.empty()) kernels::CopyAll(items);
}

}  // namespace torus::parallel
