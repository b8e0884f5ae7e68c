#include "parallel/data_parallel/data_parallel.h"

#include <cstddef>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "parallel/data_parallel/coded_sum.h"
#include "runtime/error.h"
#include "runtime/rng.h"

namespace torus::parallel {
namespace {

template <class T>
std::span<T> Elements(Tensor& tensor) {
  return {tensor.mutable_data<T>(), static_cast<size_t>(tensor.numel())};
}

std::string NameOf(const GradientBuckets& buckets, int i, const std::string& what) {
  return fmt::format("all-reduce of {}, {}", buckets.Describe(i), what);
}

void CheckCodec(const DataParallelOptions& options) {
  if (!options.codec) return;
  Require(options.all_reduce == AllReduceAlgorithm::kDirect, "data-parallel",
          "gradients go through {} in sums of their own, which takes no collectives but direct",
          options.codec->name());
  Require(!options.codec->decodes_from_memory(), "data-parallel",
          "takes a codec whose decoder needs no memory, got {}", options.codec->name());
}

}  // namespace

// The all-reduces of one step: of buckets in their order, one at a time.
class DataParallel::Overlap {
 public:
  Overlap(Transport& replicas, GradientBuckets& buckets, const DataParallelOptions& options)
      : replicas_(replicas), buckets_(buckets), options_(options) {}

  std::map<std::string, CodecMemory>& memories() { return memories_; }

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
    if (options_.codec && flat.dtype() == DType::kF32) return StartCoded();
    VisitCompute("data-parallel", flat.dtype(), [&]<class T>(ComputeType<T>) {
      running_ = StartDirectAllReduce(replicas_, Elements<T>(flat), NameOf(buckets_, next_, what_),
                                      options_.lane);
    });
  }

  // Two uses of a tied parameter have one name.
  std::string KeyOf(const NamedVariable& parameter, size_t place) const {
    return fmt::format("{} {}.{}", parameter.name, next_, place);
  }

  void StartCoded() {
    std::vector<CodedPart> parts;
    const std::vector<NamedVariable>& parameters = buckets_.parameters(next_);
    for (size_t p = 0; p < parameters.size(); ++p) {
      Tensor part = buckets_.Part(next_, p);
      CodecMemory* const memory =
          options_.codec->remembers() ? &memories_[KeyOf(parameters[p], p)] : nullptr;
      parts.push_back({Elements<float>(part), part.shape(), memory});
    }
    Tensor behind = buckets_.Behind(next_);
    const CodecContext context{.step = sums_++,
                               .seed = options_.seed,
                               .stream = HashName(parameters.front().name.c_str())};
    running_ = StartCodedSum(replicas_, *options_.codec, std::move(parts), Elements<float>(behind),
                             context, NameOf(buckets_, next_, what_), options_.lane);
  }

  void End() {
    running_.reset();
    buckets_.Unfill(next_++);
  }

  Transport& replicas_;
  GradientBuckets& buckets_;
  const DataParallelOptions options_;
  std::map<std::string, CodecMemory> memories_;  // by parameter
  int64_t sums_ = 0;                             // of this program, through the codec
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
      all_reduce_(options.all_reduce),
      codec_(options.codec) {
  CheckCodec(options);
  if (buckets_.size() == 0 || all_reduce_ != AllReduceAlgorithm::kDirect) return;
  overlap_ = std::make_shared<Overlap>(replicas, buckets_, options);
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

std::map<std::string, CodecMemory> DataParallel::codec_memories() const {
  return overlap_ ? overlap_->memories() : std::map<std::string, CodecMemory>();
}

void DataParallel::SetCodecMemories(std::map<std::string, CodecMemory> memories) {
  if (overlap_) overlap_->memories() = std::move(memories);
}

uint64_t DataParallel::BytesPerStep() const {
  uint64_t bytes = 0;
  for (int i = 0; i < buckets_.size(); ++i) {
    const Tensor& flat = buckets_.bucket(i);
    if (codec_ && flat.dtype() == DType::kF32) {
      std::vector<Shape> shapes;
      for (const NamedVariable& p : buckets_.parameters(i)) shapes.push_back(p.value.shape());
      bytes += CodedSumBytes(replicas().size(), *codec_, shapes, shapes.size());
      continue;
    }
    bytes += AllReduceBytesSent(all_reduce_, replicas().size(), replicas().rank(), flat.numel(),
                                SizeOf(flat.dtype()));
  }
  return bytes;
}

}  // namespace torus::parallel
