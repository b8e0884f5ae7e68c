#include "parallel/data_parallel/bucket_sums.h"

#include "runtime/error.h"

namespace torus::parallel {

BucketSums::BucketSums(Communicator& replicas, GradientBuckets& buckets, int lane)
    : replicas_(replicas),
      buckets_(buckets),
      lane_(lane),
      on_gpus_(buckets.size() > 0 && buckets.bucket(0).device().kind == DeviceKind::kCuda),
      running_(buckets.size()) {}

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
  // Else it comes too late.
  TORUS_CHECK(bucket > next_ || (bucket == next_ && running_[bucket] == nullptr));
  missing_[bucket].erase(leaf.id());
  Advance();
}

void BucketSums::Advance() {
  while (armed_ && next_ < buckets_.size()) {
    if (running_[next_] == nullptr && !missing_[next_].empty()) return;
    if (!Run(next_)) return;
    ++next_;
  }
}

void BucketSums::Finish(const std::string& what) {
  if (!armed_) Begin(what);
  for (; next_ < buckets_.size(); ++next_)
    if (on_gpus_)
      Running(next_);
    else
      Take(next_);
  for (int i = 0; on_gpus_ && i < buckets_.size(); ++i) Take(i);
  armed_ = false;
}

std::unique_ptr<PendingCollective> BucketSums::Start(int i) {
  Tensor& flat = buckets_.bucket(i);
  return replicas_.StartAllReduce(BufferOf(flat), flat.dtype(), NameOf(i), lane_);
}

PendingCollective& BucketSums::Running(int i) {
  if (!running_[i]) {
    buckets_.Fill(i);
    running_[i] = Start(i);
  }
  return *running_[i];
}

// Starts or continues bucket i without waiting. Returns whether the next bucket may start.
bool BucketSums::Run(int i) {
  PendingCollective& sum = Running(i);
  if (on_gpus_) return true;
  if (!sum.Advance()) return false;
  Take(i);
  return true;
}

void BucketSums::Take(int i) {
  Running(i).Finish();
  running_[i].reset();
  buckets_.Unfill(i);
}

}  // namespace torus::parallel
