#include "runtime/deferred_checks.h"

#include <limits>
#include <utility>

#include "runtime/error.h"
#include "runtime/kernels.h"

namespace torus {
namespace {

constexpr int64_t kMost = 1024;
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

thread_local DeferredChecks* innermost = nullptr;  // of the calling thread

}  // namespace

DeferredChecks::DeferredChecks(Device gpu) {
  Require(gpu.kind == DeviceKind::kCuda, "checks", "needs a GPU, got {}", gpu);
  first_ = Tensor({kMost}, DType::kI64, gpu);
  Reset();
}

void DeferredChecks::Reset() {
  Copy(FromVector(std::vector<int64_t>(kMost, kNone), {kMost}), first_);
}

int64_t* DeferredChecks::Expect(Check check) {
  if (std::ssize(expected_) == kMost) Report();
  expected_.push_back(std::move(check));
  return static_cast<int64_t*>(first_.mutable_raw()) + expected_.size() - 1;
}

void DeferredChecks::Report() {
  if (expected_.empty()) return;
  const std::vector<Check> checks = std::exchange(expected_, {});
  const std::vector<int64_t> first = ToVector<int64_t>(first_.Narrow(0, 0, std::ssize(checks)));
  for (size_t i = 0; i < checks.size(); ++i) {
    if (first[i] == kNone) continue;
    Reset();
    const Tensor& values = checks[i].values;
    const Tensor wrong = values.View({values.numel()}).Narrow(0, first[i], 1);
    checks[i].fail(first[i], ToVector<int64_t>(wrong)[0]);
  }
}

void DeferredChecks::Clear() {
  if (expected_.empty()) return;
  expected_.clear();
  Reset();
}

DeferredChecks::Scope::Scope(DeferredChecks& checks) : before_(std::exchange(innermost, &checks)) {}

DeferredChecks::Scope::~Scope() { innermost = before_; }

DeferredChecks* DeferredChecks::Here(Device gpu) {
  return innermost != nullptr && innermost->first_.device() == gpu ? innermost : nullptr;
}

}  // namespace torus
