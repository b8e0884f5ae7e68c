#include "parallel/data_parallel/data_parallel.h"

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

template <class T>
std::span<T> Elements(Tensor& tensor) {
  return {tensor.mutable_data<T>(), static_cast<size_t>(tensor.numel())};
}

std::string NameOf(const GradientBuckets& buckets, int i, const std::string& what) {
  return fmt::format("all-reduce of {}, {}", buckets.Describe(i), what);
}

}  // namespace

// The all-reduces of one step: of buckets in their order, one at a time.
class DataParallel::Overlap {
 public:
  Overlap(Transport& replicas, GradientBuckets& buckets, int lane)
      : replicas_(replicas), buckets_(buckets), lane_(lane) {}

  void Begin(const std::string& what) {
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

  void GradientIsWhole(int bucket, const Variable& leaf) {
    if (!armed_) return;
    TORUS_CHECK(bucket > next_ || (bucket == next_ && !running_));  // else it comes too late
    missing_[bucket].erase(leaf.id());
    Advance();
  }

  // Starts what can be started, without waiting.
  void Advance() {
    while (armed_ && next_ < buckets_.size()) {
      if (!running_ && !missing_[next_].empty()) return;
      if (!running_) Start();
      if (!running_->Advance()) return;
      End();
    }
  }

  void Finish(const std::string& what) {
    if (!armed_) Begin(what);
    for (; next_ < buckets_.size(); End()) {
      if (!running_) Start();
      running_->Finish();
    }
    armed_ = false;
  }

 private:
  void Start() {
    buckets_.Fill(next_);
    Tensor& flat = buckets_.bucket(next_);
    VisitCompute("data-parallel", flat.dtype(), [&]<class T>(ComputeType<T>) {
      running_ =
          StartDirectAllReduce(replicas_, Elements<T>(flat), NameOf(buckets_, next_, what_), lane_);
    });
  }

  void End() {
    running_.reset();
    buckets_.Unfill(next_++);
  }

  Transport& replicas_;
  GradientBuckets& buckets_;
  const int lane_;
  std::string what_;
  bool armed_ = false;  // within the last backward of a step, or between it and the end
  int next_ = 0;        // bucket that runs or is to be started
  std::vector<std::set<const void*>> missing_;  // of each bucket: leaves without their gradient
  std::unique_ptr<PendingAllReduce> running_;
};

DataParallel::DataParallel(Transport& replicas, std::vector<NamedVariable> parameters,
                           DataParallelOptions options)
    : ReplicaStrategy(replicas, std::move(parameters)),
      buckets_(replicas.size() == 1 ? std::vector<NamedVariable>() : uses(), options.bucket_bytes),
      all_reduce_(options.all_reduce) {
  if (buckets_.size() == 0 || all_reduce_ != AllReduceAlgorithm::kDirect) return;
  overlap_ = std::make_shared<Overlap>(replicas, buckets_, options.lane);
  for (int i = 0; i < buckets_.size(); ++i)
    for (Variable leaf; const NamedVariable& parameter : buckets_.parameters(i)) {
      leaf = parameter.value;
      if (leaf.requires_grad())
        leaf.AddHook([weak = std::weak_ptr(overlap_), i](const Variable& of) {
          if (const auto overlap = weak.lock()) overlap->GradientIsWhole(i, of);
        });
    }
}

DataParallel::~DataParallel() = default;

void DataParallel::BeginLastBackward(const std::string& what) {
  if (overlap_) overlap_->Begin(what);
}

void DataParallel::Advance() {
  if (overlap_) overlap_->Advance();
}

void DataParallel::ReduceGradients(const std::string& what, double) {
  if (overlap_)
    overlap_->Finish(what);
  else
    ReduceWhole(what);
}

void DataParallel::ReduceWhole(const std::string& what) {
  for (int i = 0; i < buckets_.size(); ++i) {
    buckets_.Fill(i);
    VisitCompute("data-parallel", buckets_.bucket(i).dtype(), [&]<class T>(ComputeType<T>) {
      AllReduce(replicas(), Elements<T>(buckets_.bucket(i)), NameOf(buckets_, i, what),
                all_reduce_);
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
