#include "runtime/gpu_graph.h"

#include <algorithm>
#include <utility>

#include "runtime/cuda_api.h"
#include "runtime/error.h"
#include "runtime/kernels.h"
#include "runtime/on_device.h"
#include "runtime/pinned.h"

namespace torus {
namespace {

constexpr int64_t kWords = 1 << 15;  // size of a part, unless more are requested at once

struct Recording {
  GpuGraph* graph;
  Device gpu;
};
thread_local const Recording* current = nullptr;  // of the calling thread
thread_local NumberLog* log = nullptr;

Device CheckedGpu(Device gpu) {
  Require(gpu.kind == DeviceKind::kCuda, "GpuGraph", "needs a GPU, got {}", gpu);
  return gpu;
}

// Drops the recording if an exception ended it.
class OpenCapture {
 public:
  explicit OpenCapture(const Stream& stream) : stream_(stream.handle()) {
    OnDevice(
        stream.device(), [] {},
        [&] {
          cuda::UseDevice(stream.device().index);
          cuda::BeginCapture(stream_);
        });
  }
  ~OpenCapture() {
    if (open_)
      OnDevice(
          kAnyGpu, [] {}, [&] { cuda::DropCapture(stream_); });
  }
  void* End() {
    open_ = false;
    return OnDevice(
        kAnyGpu, [] { return static_cast<void*>(nullptr); },
        [&] { return cuda::EndCapture(stream_); });
  }

 private:
  static constexpr Device kAnyGpu{DeviceKind::kCuda, 0};
  StreamHandle stream_;
  bool open_ = true;
};

class MarkRecorded {
 public:
  MarkRecorded(GpuGraph* graph, Device gpu) : recording_{graph, gpu} { current = &recording_; }
  ~MarkRecorded() { current = nullptr; }

 private:
  const Recording recording_;
};

void CopyWords(const Tensor& here, Tensor& there, int64_t count) {
  OnDevice(
      there.device(), [] {},
      [&] {
        cuda::CopyBytes(there.mutable_raw(), here.raw(), count * sizeof(int64_t),
                        CurrentStream(there.device()));
      });
}

}  // namespace

GpuGraph::GpuGraph(Device gpu) : gpu_(CheckedGpu(gpu)), pool_(std::make_shared<MemoryPool>(gpu)) {
  renewed_.emplace(gpu);
}

// A launch may still be running, with the pool's memory and the words. Failures of the GPU are
// reported to whoever waits for the work itself.
GpuGraph::~GpuGraph() {
  if (graph_ == nullptr) return;
  OnDevice(
      gpu_, [] {}, [&] { cuda::DestroyGraph(graph_); });
  try {
    renewed_->Wait();
  } catch (const std::exception&) {
  }
}

GpuGraph* GpuGraph::RecordedHere(Device gpu) {
  return current != nullptr && current->gpu == gpu ? current->graph : nullptr;
}

void GpuGraph::Record(const std::function<void()>& work) {
  TORUS_CHECK(graph_ == nullptr && current == nullptr, "a graph is recorded once, one at a time");
  Stream stream(gpu_);
  const WithStream with_stream(stream);
  const WithPool with_pool(pool_);
  OpenCapture capture(stream);
  {
    const MarkRecorded mark(this, gpu_);
    work();
  }
  graph_ = capture.End();
}

// Does not allocate from the pool: its blocks may have served other tensors of the recording, whose
// work would overwrite the words, which are written before all of it.
GpuGraph::Words& GpuGraph::RoomFor(int64_t count, std::vector<Words>& parts) const {
  const WithPool without_pool(nullptr);
  if (parts.empty() || parts.back().there.numel() - parts.back().taken < count) {
    const Shape shape{std::max(count, kWords)};
    parts.push_back({Tensor(shape, DType::kI64, gpu_), EmptyPinned(shape, DType::kI64)});
  }
  return parts.back();
}

Tensor GpuGraph::Renewed(int64_t count, Renew renew) {
  TORUS_CHECK(RecordedHere(gpu_) == this, "words are renewed for what is recorded");
  Words& room = RoomFor(count, words_);
  const int64_t first = std::exchange(room.taken, room.taken + count);
  renewals_.push_back(
      {{room.here.mutable_data<int64_t>() + first, static_cast<size_t>(count)}, std::move(renew)});
  return room.there.Narrow(0, first, count);
}

Tensor GpuGraph::Kept(std::span<const int64_t> values) {
  TORUS_CHECK(RecordedHere(gpu_) == this, "words are kept for what is recorded");
  const int64_t count = std::ssize(values);
  Words& room = RoomFor(count, kept_);
  const int64_t first = std::exchange(room.taken, room.taken + count);
  std::ranges::copy(values, room.here.mutable_data<int64_t>() + first);
  return room.there.Narrow(0, first, count);
}

int64_t GpuGraph::AssumedFor(const Tensor& number) {
  if (read_.size() == assumed_.size())
    Throw<BrokenEnvironment>(
        "graph",
        "the work that is recorded reads {} of the GPU's memory, which was not "
        "read when it was run before",
        number);
  read_.push_back(number);
  return assumed_[read_.size() - 1];
}

bool GpuGraph::Held() const {
  if (read_.empty()) return true;
  Tensor all({std::ssize(read_)}, DType::kI64, gpu_);
  for (size_t i = 0; i < read_.size(); ++i) {
    Tensor place = all.Narrow(0, static_cast<int64_t>(i), 1);
    Copy(read_[i].View({1}), place);
  }
  return std::ranges::equal(ToVector<int64_t>(all), assumed_);
}

void GpuGraph::WriteWords(int64_t step) {
  if (renewals_.empty() && (kept_.empty() || kept_is_there_)) return;
  renewed_->Wait();
  for (const Renewal& one : renewals_) one.renew(step, one.words);
  for (Words& part : words_) CopyWords(part.here, part.there, part.taken);
  if (!kept_is_there_)
    for (Words& part : kept_) CopyWords(part.here, part.there, part.taken);
  kept_is_there_ = true;
  renewed_->Record(CurrentStream(gpu_));
}

void GpuGraph::Launch(int64_t step) {
  TORUS_CHECK(graph_ != nullptr, "a graph is launched once it is recorded");
  OnDevice(
      gpu_, [] {},
      [&] {
        cuda::UseDevice(gpu_.index);
        WriteWords(step);
        cuda::LaunchGraph(graph_, CurrentStream(gpu_));
      });
}

NumberLog::NumberLog() : before_(std::exchange(log, this)) {}

NumberLog::~NumberLog() { log = before_; }

int64_t ReadNumber(const Tensor& number) {
  if (GpuGraph* graph = GpuGraph::RecordedHere(number.device())) return graph->AssumedFor(number);
  const int64_t read = ToVector<int64_t>(number)[0];
  if (log != nullptr) log->numbers_.push_back(read);
  return read;
}

}  // namespace torus
