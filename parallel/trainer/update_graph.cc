#include "parallel/trainer/update_graph.h"

#include <bit>
#include <exception>
#include <utility>

#include "runtime/trace.h"

namespace torus::parallel {

void UpdateGraph::Key::Add(const Tensor& tensor) {
  Add(tensor.defined() ? std::bit_cast<uint64_t>(tensor.raw()) : uint64_t{0});
  if (!tensor.defined()) return;
  Add(static_cast<uint64_t>(tensor.dtype()));
  Add(static_cast<uint64_t>(tensor.rank()));
  for (const int64_t size : tensor.shape()) Add(static_cast<uint64_t>(size));
  for (const int64_t stride : tensor.strides()) Add(static_cast<uint64_t>(stride));
}

Tensor UpdateGraph::Run(const Key& key, int64_t step, const Work& work) {
  if (!why_not_.empty()) return work();
  const Key before = std::exchange(before_, key);
  const bool recorded = recorded_ && recorded_->key == key;
  if (recorded || (before == key && TryRecord(step, work))) return Launch(step);
  return work();
}

// May fail for lack of memory, for example; nothing has run then.
bool UpdateGraph::TryRecord(int64_t step, const Work& work) try {
  const trace::Scope scope("record", "graph", step);
  recorded_.reset();
  auto made = std::make_unique<Recorded>(gpu_);
  made->key = before_;
  made->graph.Record([&] { made->result = work(); });
  recorded_ = std::move(made);
  return true;
} catch (const std::exception& error) {
  why_not_ = error.what();
  return false;
}

Tensor UpdateGraph::Launch(int64_t step) {
  const trace::Scope scope(part_, "graph", step);
  recorded_->graph.Launch(step);
  ++launched_;
  return recorded_->result;
}

}  // namespace torus::parallel
