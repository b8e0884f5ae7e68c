#include "parallel/data_parallel/data_parallel.h"

#include <memory>
#include <utility>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

// The device of the buckets: that of the parameters if they can be summed there, else the CPU.
Device DeviceOfBuckets(const Communicator& replicas, const std::vector<NamedVariable>& parameters) {
  if (parameters.empty()) return {};
  const Device device = parameters.front().value.data().device();
  return replicas.SumsOn(device) ? device : Device{};
}

bool SumsDirectly(const Communicator& replicas) {
  return replicas.options().on_cpu == AllReduceAlgorithm::kDirect;
}

void CheckCodec(const Communicator& replicas, const DataParallelOptions& options) {
  if (!options.codec) return;
  Require(SumsDirectly(replicas), "data-parallel",
          "gradients go through {} in sums of their own, which takes no collectives but direct",
          options.codec->name());
  Require(!options.codec->decodes_from_memory(), "data-parallel",
          "takes a codec whose decoder needs no memory, got {}", options.codec->name());
}

}  // namespace

DataParallel::DataParallel(Communicator& replicas, std::vector<NamedVariable> parameters,
                           DataParallelOptions options)
    : ReplicaStrategy(replicas, std::move(parameters)),
      options_(options),
      buckets_(replicas.size() == 1 ? std::vector<NamedVariable>() : uses(), options.bucket_bytes,
               DeviceOfBuckets(replicas, uses()), options.slices) {
  CheckCodec(replicas, options);
  if (buckets_.size() == 0) return;
  if (options.codec) {
    auto coded = std::make_shared<CodedBucketSums>(
        replicas, buckets_, options.codec, options.codec_warmup, options.seed, options.lane);
    coded_ = coded.get();
    sums_ = std::move(coded);
  } else {
    sums_ = std::make_shared<BucketSums>(replicas, buckets_, options.lane);
  }
  if (SumsOnGpu() ? options.only_stage : SumsDirectly(replicas)) Hook();
}

DataParallel::~DataParallel() = default;

bool DataParallel::SumsOnGpu() const {
  return buckets_.size() > 0 && buckets_.bucket(0).device().kind == DeviceKind::kCuda;
}

void DataParallel::Hook() {
  for (int i = 0; i < buckets_.size(); ++i)
    for (Variable leaf; const NamedVariable& parameter : buckets_.parameters(i)) {
      leaf = parameter.value;
      if (leaf.requires_grad())
        leaf.AddHook([weak = std::weak_ptr(sums_), i](const Variable& of) {
          if (const auto sums = weak.lock()) sums->GradientIsWhole(i, of);
        });
    }
}

void DataParallel::BroadcastWeights(const std::string& what) {
  ReplicaStrategy::BroadcastWeights(what);
  Require(!SumsOnGpu() || replicas().MeetEngine(), "data-parallel",
          "the collectives engine sums on GPUs by NCCL, which does not link these replicas");
}

void DataParallel::BeginLastBackward(const std::string& what) {
  if (sums_) sums_->Begin(what);
}

void DataParallel::Advance() {
  if (sums_) sums_->Advance();
}

void DataParallel::ReduceGradients(const std::string& what, double) {
  if (sums_) sums_->Finish(what);
}

void DataParallel::BeginStep(int64_t step, double scale) {
  if (coded_ != nullptr) coded_->BeginStep(step, scale);
}

void DataParallel::EndStep(bool taken) {
  if (coded_ != nullptr) coded_->EndStep(taken);
}

std::vector<int64_t> DataParallel::SavedBytes() const {
  return coded_ != nullptr ? coded_->saved() : ReplicaStrategy::SavedBytes();
}

std::map<std::string, CodecMemory> DataParallel::codec_memories() const {
  return coded_ != nullptr ? coded_->memories() : std::map<std::string, CodecMemory>();
}

void DataParallel::SetCodecMemories(std::map<std::string, CodecMemory> memories) {
  if (coded_ != nullptr) coded_->memories() = std::move(memories);
}

uint64_t DataParallel::BytesPerStep() const {
  uint64_t bytes = 0;
  if (coded_ != nullptr) {
    for (int r = 0; r < replicas().size(); ++r)
      if (r != replicas().rank()) bytes += coded_->BytesTo(r);
    return bytes;
  }
  for (int i = 0; i < buckets_.size(); ++i) {
    const Tensor& flat = buckets_.bucket(i);
    bytes += AllReduceBytesSent(replicas().options().on_cpu, replicas().size(), replicas().rank(),
                                flat.numel(), SizeOf(flat.dtype()));
  }
  return bytes;
}

}  // namespace torus::parallel
