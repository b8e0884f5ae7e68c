#include "parallel/data_parallel/bucket_sums.h"

#include <span>

#include "runtime/error.h"
#include "runtime/stream.h"

namespace torus::parallel {

std::string BucketSums::NameOf(int i) const {
  return fmt::format("all-reduce of {}, {}", buckets_.Describe(i), what_);
}

void BucketSums::Begin(const std::string& what) {
  what_ = what;
  next_ = 0;
  armed_ = true;
  missing_.clear();
  for (int i = 0; i < buckets_.size(); ++i) {
    missing_.emplace_back();
    for (const NamedVariable& parameter : buckets_.parameters(i))
      missing_.back().insert(parameter.value.id());
  }
}

void BucketSums::GradientIsWhole(int bucket, const Variable& leaf) {
  if (!armed_) return;
  TORUS_CHECK(bucket > next_ || (bucket == next_ && !runs()));  // else it comes too late
  missing_[bucket].erase(leaf.id());
  Advance();
}

void BucketSums::Advance() {
  while (armed_ && next_ < buckets_.size()) {
    if (!runs() && !missing_[next_].empty()) return;
    if (!Run(next_)) return;
    ++next_;
  }
}

void BucketSums::Finish(const std::string& what) {
  if (!armed_) Begin(what);
  for (; next_ < buckets_.size(); ++next_) RunToEnd(next_);
  End();
  armed_ = false;
}

std::unique_ptr<PendingAllReduce> DirectBucketSums::Start(int i) {
  Tensor& flat = buckets().bucket(i);
  std::unique_ptr<PendingAllReduce> started;
  VisitCompute("data-parallel", flat.dtype(), [&]<class T>(ComputeType<T>) {
    const std::span<T> elements(flat.mutable_data<T>(), static_cast<size_t>(flat.numel()));
    started = StartDirectAllReduce(replicas_, elements, NameOf(i), lane_);
  });
  return started;
}

PendingAllReduce& DirectBucketSums::Running(int i) {
  if (!running_) {
    buckets().Fill(i);
    running_ = Start(i);
  }
  return *running_;
}

void DirectBucketSums::Take(int i) {
  running_.reset();
  buckets().Unfill(i);
}

bool DirectBucketSums::Run(int i) {
  if (!Running(i).Advance()) return false;
  Take(i);
  return true;
}

void DirectBucketSums::RunToEnd(int i) {
  Running(i).Finish();
  Take(i);
}

GpuBucketSums::GpuBucketSums(Transport& replicas, GradientBuckets& buckets)
    : BucketSums(buckets), engine_(EngineOfAll(replicas)) {
  Require(engine_ != nullptr, "data-parallel",
          "the collectives engine sums on GPUs by NCCL, which does not link these replicas");
}

bool GpuBucketSums::Run(int i) {
  buckets().Fill(i);
  Tensor& flat = buckets().bucket(i);
  const Buffer buffer{flat.mutable_raw(), flat.bytes(), flat.device(),
                      CurrentStream(flat.device())};
  started_.push_back(engine_->AllReduce(buffer, flat.dtype(), NameOf(i)));
  return true;
}

void GpuBucketSums::End() {
  for (size_t i = 0; i < started_.size(); ++i) {
    const int bucket = static_cast<int>(i);
    started_[i].WaitOn(CurrentStream(buckets().bucket(bucket).device()));
    buckets().Unfill(bucket);
  }
  started_.clear();
}

}  // namespace torus::parallel
