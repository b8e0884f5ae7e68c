#include "runtime/deferred_checks.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "runtime/error.h"
#include "runtime/gpu_graph.h"
#include "runtime/kernels.h"

namespace torus {
namespace {

constexpr int64_t kBlock = 1024;  // numbers allocated at a time
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

thread_local DeferredChecks* innermost = nullptr;  // of the calling thread

}  // namespace

DeferredChecks::DeferredChecks(Device gpu) : gpu_(gpu) {
  Require(gpu.kind == DeviceKind::kCuda, "checks", "needs a GPU, got {}", gpu);
  AddBlock();
}

// While a step is recorded as a graph, nothing can be written to the GPU but by the graph itself.
void DeferredChecks::AddBlock() {
  Require(GpuGraph::RecordedHere(gpu_) == nullptr, "checks",
          "a recorded step has more checks ({}) than any step computed before it",
          expected_.size() + 1);
  blocks_.emplace_back(Shape{kBlock}, DType::kI64, gpu_);
  Reset(blocks_.back());
}

void DeferredChecks::Reset(Tensor& block) {
  Copy(FromVector(std::vector<int64_t>(kBlock, kNone), {kBlock}), block);
}

int64_t* DeferredChecks::Expect(Check check) {
  const int64_t at = std::ssize(expected_);
  if (at == kBlock * std::ssize(blocks_)) AddBlock();
  expected_.push_back(std::move(check));
  Tensor& block = blocks_[static_cast<size_t>(at / kBlock)];
  return static_cast<int64_t*>(block.mutable_raw()) + at % kBlock;
}

std::vector<int64_t> DeferredChecks::Found(int64_t count) const {
  std::vector<int64_t> found;
  for (int64_t first = 0; first < count; first += kBlock) {
    const Tensor& block = blocks_[static_cast<size_t>(first / kBlock)];
    const std::vector<int64_t> part =
        ToVector<int64_t>(block.Narrow(0, 0, std::min(kBlock, count - first)));
    found.insert(found.end(), part.begin(), part.end());
  }
  return found;
}

void DeferredChecks::Report() {
  if (expected_.empty()) return;
  const std::vector<Check> checks = std::exchange(expected_, {});
  const std::vector<int64_t> first = Found(std::ssize(checks));
  for (size_t i = 0; i < checks.size(); ++i) {
    if (first[i] == kNone) continue;
    for (Tensor& block : blocks_) Reset(block);
    const Tensor& values = checks[i].values;
    const Tensor wrong = values.View({values.numel()}).Narrow(0, first[i], 1);
    checks[i].fail(first[i], ToVector<int64_t>(wrong)[0]);
  }
}

void DeferredChecks::Clear() {
  if (expected_.empty()) return;
  expected_.clear();
  for (Tensor& block : blocks_) Reset(block);
}

DeferredChecks::Scope::Scope(DeferredChecks& checks) : before_(std::exchange(innermost, &checks)) {}

DeferredChecks::Scope::~Scope() { innermost = before_; }

DeferredChecks* DeferredChecks::Here(Device gpu) {
  return innermost != nullptr && innermost->gpu_ == gpu ? innermost : nullptr;
}

}  // namespace torus
