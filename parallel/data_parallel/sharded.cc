#include "parallel/data_parallel/sharded.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "parallel/data_parallel/gradient_buckets.h"
#include "parallel/data_parallel/shard_rows.h"
#include "parallel/optim/gradient_norm.h"
#include "runtime/copy_bytes.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

std::vector<size_t> FirstUses(const std::vector<NamedVariable>& uses) {
  std::vector<size_t> first;
  std::set<std::string> seen;
  for (size_t i = 0; i < uses.size(); ++i)
    if (seen.insert(uses[i].name).second) first.push_back(i);
  return first;
}

template <class T>
std::vector<Buffer> BuffersOf(const std::vector<std::span<T>>& rows) {
  std::vector<Buffer> buffers;
  for (const std::span<T> row : rows) buffers.push_back(BufferOf(row));
  return buffers;
}

std::vector<size_t> All(const std::vector<NamedVariable>& uses) {
  std::vector<size_t> all(uses.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return all;
}

}  // namespace

Sharded::Sharded(Communicator& replicas, std::vector<NamedVariable> all, const ShardPlan& plan,
                 ShardedOptions options)
    : ReplicaStrategy(replicas, std::move(all)), options_(options) {
  for (size_t i = 0; i < uses().size(); ++i) {
    const auto& [name, value] = uses()[i];
    specs_[name] = {value.shape(), plan.at(name)};
    const ElementRange& own = OwnRange(i);
    if (own.size() == 0) {
      held_[i].value = {};
    } else if (own.size() < value.numel()) {
      held_[i].value = Variable(SliceOf(value.data(), own), value.requires_grad());
    }
  }
  gradients_ = SplitIntoBuckets(uses(), All(uses()), options.bucket_bytes);
  weights_ = SplitIntoBuckets(uses(), FirstUses(uses()), options.bucket_bytes);
}

// The number of replicas that have a gradient, for each use.
std::vector<int32_t> Sharded::CountGradients(const std::string& what) {
  std::vector<int32_t> counts;
  for (const NamedVariable& use : uses()) counts.push_back(use.value.grad().defined() ? 1 : 0);
  replicas().AllReduce<int32_t>(counts, fmt::format("presence of gradients, {}", what));
  return counts;
}

// A parameter for which no replica has a gradient stays without, so that no optimizer decays it.
void Sharded::ReduceGradients(const std::string& what, double) {
  const std::vector<int32_t> counts = CountGradients(what);
  for (Bucket bucket : gradients_) {
    std::erase_if(bucket, [&](size_t use) { return counts[use] == 0; });
    if (bucket.empty()) continue;
    const NamedVariable& first = uses()[bucket.front()];
    const std::string name = fmt::format("gradients from {} on, {}", first.name, what);
    VisitCompute("data-parallel", first.value.dtype(), [&]<class T>(ComputeType<T>) {
      bucket.size() == 1 ? ReduceOne<T>(bucket.front(), name) : ReduceBucket<T>(bucket, name);
    });
  }
}

// Takes the gradient from the use; without one, returns -0 everywhere, which changes no bit of a
// sum. Contiguous() gives memory of its own, because only a strided gradient may share its memory.
Tensor Sharded::TakeGradient(size_t use) {
  Variable& value = uses()[use].value;
  Tensor gradient = value.grad();
  value.ZeroGrad();
  return gradient.defined() ? gradient.Contiguous() : Full(value.shape(), -0.0, value.dtype());
}

template <class T>
void Sharded::Hold(size_t use, const T* sums) {
  Variable& held = held_[use].value;
  Tensor gradient = Empty(held.shape(), held.dtype());
  CopyElements(sums, held.numel(), gradient.mutable_data<T>());
  held.SetGrad(std::move(gradient));
}

template <class T>
std::vector<std::span<T>> Sharded::RowsIn(T* whole, size_t use) const {
  std::vector<std::span<T>> rows;
  for (const ElementRange& range : RangesOf(use))
    rows.emplace_back(whole + range.begin, static_cast<size_t>(range.size()));
  return rows;
}

std::vector<const std::vector<ElementRange>*> Sharded::RangesOf(const Bucket& bucket) const {
  std::vector<const std::vector<ElementRange>*> ranges;
  for (const size_t use : bucket) ranges.push_back(&RangesOf(use));
  return ranges;
}

// Sums a large parameter's gradient in place.
template <class T>
void Sharded::ReduceOne(size_t use, const std::string& what) {
  Tensor gradient = TakeGradient(use);
  const std::vector<std::span<T>> rows = RowsIn(gradient.mutable_data<T>(), use);
  replicas().ReduceScatter(BuffersOf(rows), kDTypeOf<T>, what);
  const std::span<T> own = rows[replicas().rank()];
  if (own.size() == static_cast<size_t>(gradient.numel()))
    return held_[use].value.SetGrad(gradient);
  if (!own.empty()) Hold(use, own.data());
}

template <class T>
void Sharded::ReduceBucket(const Bucket& bucket, const std::string& what) {
  const ShardRows<T> rows(RangesOf(bucket), replicas().size());
  std::vector<Tensor> gradients;
  for (const size_t use : bucket) gradients.push_back(TakeGradient(use));
  for (int r = 0; r < replicas().size(); ++r)
    rows.ForEachPart(r, [&](size_t i, const ElementRange& range, T* out) {
      CopyElements(gradients[i].template data<T>() + range.begin, range.size(), out);
    });
  gradients.clear();
  replicas().ReduceScatter(BuffersOf(rows.rows()), kDTypeOf<T>, what);
  rows.ForEachPart(replicas().rank(),
                   [&](size_t i, const ElementRange&, const T* sums) { Hold(bucket[i], sums); });
}

// Each block is summed by one replica, and the all-reduce adds zeros to that sum. Then all replicas
// add the blocks in the same order as one that holds them all.
std::vector<double> Sharded::SquaredNorms(const std::string& what) {
  int64_t blocks = 0;
  std::vector<int64_t> begin;
  for (const NamedVariable& use : uses()) {
    begin.push_back(blocks);
    blocks += NormBlocks(use.value.numel());
  }
  begin.push_back(blocks);
  std::vector<double> sums(blocks), norms;
  for (size_t i = 0; i < held_.size(); ++i)
    if (const Tensor& gradient = held_[i].value.grad(); gradient.defined())
      std::ranges::copy(SquaredBlockNorms(gradient.Contiguous()),
                        sums.begin() + begin[i] + OwnRange(i).begin / kNormBlock);
  replicas().AllReduce<double>(sums, fmt::format("norms of the gradients, {}", what));
  for (size_t i = 0; i < held_.size(); ++i)
    norms.push_back(std::accumulate(sums.begin() + begin[i], sums.begin() + begin[i + 1], 0.0));
  return norms;
}

void Sharded::PublishWeights(const std::string& what) {
  if (options_.broadcast) return BroadcastWeights(what);
  GatherHeld(what);
  BumpVersions();
}

void Sharded::BumpVersions() {
  for (const NamedVariable& use : uses()) use.value.data().storage()->BumpVersion();
}

void Sharded::GatherHeld(const std::string& what) {
  for (const Bucket& bucket : weights_) {
    const NamedVariable& first = uses()[bucket.front()];
    const std::string name = fmt::format("weights from {} on, {}", first.name, what);
    VisitCompute("data-parallel", first.value.dtype(), [&]<class T>(ComputeType<T>) {
      bucket.size() == 1 ? GatherOne<T>(bucket.front(), name) : GatherBucket<T>(bucket, name);
    });
  }
}

namespace {

// Gives write access without bumping the version.
template <class T>
T* Elements(const Variable& whole) {
  return const_cast<T*>(whole.data().data<T>());
}

}  // namespace

template <class T>
void Sharded::GatherOne(size_t use, const std::string& what) {
  const std::vector<std::span<T>> rows = RowsIn(Elements<T>(uses()[use].value), use);
  if (const std::span<T> own = rows[replicas().rank()]; !own.empty()) {
    const T* const held = held_[use].value.data().template data<T>();
    // The shard may be a part of the whole.
    if (held != own.data()) CopyElements(held, held_[use].value.numel(), own.data());
  }
  replicas().AllGather(BuffersOf(rows), what);
}

template <class T>
void Sharded::GatherBucket(const Bucket& bucket, const std::string& what) {
  const ShardRows<T> rows(RangesOf(bucket), replicas().size());
  rows.ForEachPart(replicas().rank(), [&](size_t i, const ElementRange& range, T* out) {
    CopyElements(held_[bucket[i]].value.data().template data<T>(), range.size(), out);
  });
  replicas().AllGather(BuffersOf(rows.rows()), what);
  for (int r = 0; r < replicas().size(); ++r)
    rows.ForEachPart(r, [&](size_t i, const ElementRange& range, const T* in) {
      CopyElements(in, range.size(), Elements<T>(uses()[bucket[i]].value) + range.begin);
    });
}

std::vector<NamedTensor> Sharded::Whole(std::vector<NamedTensor> own,
                                        const std::vector<std::string>& parameters,
                                        const std::string& what) {
  return GatherShards(replicas(), own, specs_, parameters, what);
}

std::vector<NamedTensor> Sharded::OwnPart(std::vector<NamedTensor> whole) const {
  return TakeShards(whole, specs_, replicas().rank());
}

}  // namespace torus::parallel
