#include "runtime/emulated_gpu/queues.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/emulated_gpu/memory.h"
#include "runtime/error.h"
#include "runtime/progress.h"

namespace torus::emulated_gpu {
namespace {

struct Queue;

// The point after the first `end` pieces of a queue.
struct Point {
  std::shared_ptr<Queue> queue;
  uint64_t end = 0;
};

// A piece of work. It runs after `after` and, if `ready` is set, once that returns true.
struct Piece {
  Point after;
  std::function<bool()> ready;
  std::function<void()> work;
};

// The recording of a stream by a thread.
struct Capture {
  uint64_t number = 0;  // unique among all captures of the process
  Recording work;
  bool broken = false;
};

struct Queue {
  explicit Queue(int device) : device(device) {}
  const int device;
  std::optional<Capture> capture;
  std::deque<Piece> waiting;
  uint64_t put = 0, done = 0;  // pieces
  bool asked = false;          // while it is checked whether its first piece can run
};

struct Event {
  int device = 0;
  Point point;
  uint64_t capture = 0;  // the capture in which it was recorded last; 0: none
};

struct Machine {
  Machine() {
    for (int device = 0; device < kDevices; ++device)
      defaults[device] = std::make_shared<Queue>(device);
  }
  std::recursive_mutex mutex;  // held while work runs, which may wait for other queues
  std::array<std::shared_ptr<Queue>, kDevices> defaults;
  std::vector<std::shared_ptr<Queue>> made;
  uint64_t captures = 0;
};

// Never destroyed, because static events may be dropped after it.
Machine& All() {
  static auto* const machine = new Machine;
  return *machine;
}

thread_local int current_device = 0;
thread_local std::weak_ptr<Queue> recorded;  // by this thread

std::shared_ptr<Queue> QueueOf(StreamHandle stream) {
  Machine& all = All();
  if (stream == nullptr) return all.defaults[current_device];
  for (const auto& queue : all.made)
    if (queue.get() == stream) return queue;
  Throw<BrokenEnvironment>("stream", "is no stream of an emulated GPU, or destroyed");
}

[[noreturn]] void FailCapture(Capture& capture, const char* call, const char* error) {
  capture.broken = true;
  Throw<BrokenEnvironment>("cuda", "{} while a stream is recorded: {}", call, error);
}

// The capture of the stream that the calling thread records, or null. The mutex must be held.
Capture* OwnCapture() {
  const auto queue = recorded.lock();
  return queue != nullptr && queue->capture ? &*queue->capture : nullptr;
}

void RefuseWhileRecording(const char* call) {
  const std::lock_guard lock(All().mutex);
  if (Capture* own = OwnCapture())
    FailCapture(*own, call, "cudaErrorStreamCaptureUnsupported, it would be waited for");
}

bool TryReach(const Point& point);

// No sequence of calls can make a piece wait for itself, because an event stands for earlier work.
bool CanRun(Queue& queue) {
  TORUS_CHECK(!queue.asked, "a stream waits for itself");
  struct Asked {
    bool& asked;
    explicit Asked(bool& asked) : asked(asked) { asked = true; }
    ~Asked() { asked = false; }
  } mark(queue.asked);
  const Piece& piece = queue.waiting.front();
  return TryReach(piece.after) && (!piece.ready || piece.ready());
}

// Runs one piece if it can run now. It is removed first, so that it is not run again if it throws.
bool TryNext(Queue& queue) {
  if (!CanRun(queue)) return false;
  const auto work = std::move(queue.waiting.front().work);
  queue.waiting.pop_front();
  ++queue.done;
  if (work) work();
  if (ProgressCounter* const counter = CurrentProgress())
    counter->ticks.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool TryReach(const Point& point) {
  if (point.queue == nullptr) return true;
  while (point.queue->done < point.end) {
    TORUS_CHECK(!point.queue->waiting.empty(), "a stream waits for what it was never given");
    if (!TryNext(*point.queue)) return false;
  }
  return true;
}

Point EndOf(const std::shared_ptr<Queue>& queue) { return {queue, queue->put}; }

void Put(Queue& queue, Piece piece) {
  queue.waiting.push_back(std::move(piece));
  ++queue.put;
}

Event& EventOf(void* event) { return *static_cast<Event*>(event); }

using Lock = std::lock_guard<std::recursive_mutex>;

// Calls `attempt` until it returns true. Other threads may proceed between two calls.
template <class Attempt>
void Until(const Attempt& attempt) {
  while (true) {
    {
      const Lock lock(All().mutex);
      if (attempt()) return;
    }
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

// Runs all pieces of the queue, even if some throw. Returns false if a piece cannot run yet.
bool TryEmpty(Queue& queue, std::exception_ptr& first) {
  while (!queue.waiting.empty()) {
    try {
      if (!TryNext(queue)) return false;
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  return true;
}

}  // namespace

int CurrentDevice() { return current_device; }

void SetCurrentDevice(int device) {
  if (device < 0 || device >= kDevices)
    Throw<BrokenEnvironment>("cuda", "there is no emulated GPU {}: {} are there", device, kDevices);
  current_device = device;
}

StreamHandle MakeStream() {
  const Lock lock(All().mutex);
  All().made.push_back(std::make_shared<Queue>(current_device));
  return All().made.back().get();
}

void DropStream(StreamHandle stream) {
  const Lock lock(All().mutex);
  const auto queue = QueueOf(stream);
  // The remaining work of the dropped stream runs before the next work of its device's default
  // stream.
  if (!queue->waiting.empty()) Put(*All().defaults[queue->device], {.after = EndOf(queue)});
  std::erase(All().made, queue);
}

int DeviceOf(StreamHandle stream) {
  const Lock lock(All().mutex);
  return QueueOf(stream)->device;
}

void Enqueue(StreamHandle stream, const std::string& name, std::function<void()> work) {
  EnqueueWhenReady(stream, name, nullptr, std::move(work));
}

void EnqueueWhenReady(StreamHandle stream, const std::string& name, std::function<bool()> ready,
                      std::function<void()> work) {
  const Lock lock(All().mutex);
  const auto queue = QueueOf(stream);
  if (queue->device != current_device)
    Throw<BrokenEnvironment>(name, "is put into a stream of cuda:{} while cuda:{} is the current",
                             queue->device, current_device);
  if (queue->capture) {
    if (ready) FailCapture(*queue->capture, name.c_str(), "cudaErrorStreamCaptureUnsupported");
    return queue->capture->work.push_back(std::move(work));
  }
  Put(*queue, {.ready = std::move(ready), .work = std::move(work)});
}

void WaitForStream(StreamHandle stream) {
  RefuseWhileRecording("cudaStreamSynchronize");
  Point end;
  {
    const Lock lock(All().mutex);
    end = EndOf(QueueOf(stream));
  }
  Until([&] { return TryReach(end); });
}

void WaitForDevice(int device) {
  std::exception_ptr first;
  Until([&] {
    std::vector<std::shared_ptr<Queue>> queues = All().made;
    queues.push_back(All().defaults[device]);
    bool empty = true;
    for (const auto& queue : queues)
      if (queue->device == device) empty = TryEmpty(*queue, first) && empty;
    return empty;
  });
  if (first != nullptr) std::rethrow_exception(first);
}

void* MakeEvent() { return new Event{current_device, {}}; }

void DropEvent(void* event) { delete static_cast<Event*>(event); }

void RecordEvent(void* event, StreamHandle stream) {
  const Lock lock(All().mutex);
  const auto queue = QueueOf(stream);
  if (queue->device != EventOf(event).device)
    Throw<BrokenEnvironment>("event", "of cuda:{} is recorded in a stream of cuda:{}",
                             EventOf(event).device, queue->device);
  EventOf(event).capture = queue->capture ? queue->capture->number : 0;
  EventOf(event).point = queue->capture ? Point() : EndOf(queue);
}

namespace {

// An event recorded during a recording marks a place in it, and nobody can wait for that.
void RequireNotCaptured(void* event) {
  if (EventOf(event).capture != 0)
    Throw<BrokenEnvironment>("cuda", "the event is one within a recording: cudaErrorCapturedEvent");
}

}  // namespace

void WaitForEvent(void* event) {
  RefuseWhileRecording("cudaEventSynchronize");
  Point point;
  {
    const Lock lock(All().mutex);
    RequireNotCaptured(event);
    point = EventOf(event).point;
  }
  Until([&] { return TryReach(point); });
}

void StreamWaitsForEvent(StreamHandle stream, void* event) {
  const Lock lock(All().mutex);
  const auto queue = QueueOf(stream);
  const uint64_t captured = EventOf(event).capture;
  if (!queue->capture) {
    RequireNotCaptured(event);
    return Put(*queue, {.after = EventOf(event).point});
  }
  // A stream runs after its own events anyway.
  if (captured != queue->capture->number)
    FailCapture(*queue->capture, "cudaStreamWaitEvent", "cudaErrorStreamCaptureIsolation");
}

void BeginRecording(StreamHandle stream) {
  const Lock lock(All().mutex);
  const auto queue = QueueOf(stream);
  if (stream == nullptr || queue->capture || OwnCapture() != nullptr)
    Throw<BrokenEnvironment>("cuda", "cudaStreamBeginCapture: {}",
                             stream == nullptr
                                 ? "not of the default stream"
                                 : "the stream, or another of this thread, is recorded");
  queue->capture.emplace().number = ++All().captures;
  recorded = queue;
}

std::shared_ptr<const Recording> EndRecording(StreamHandle stream) {
  const Lock lock(All().mutex);
  const auto queue = QueueOf(stream);
  if (!queue->capture)
    Throw<BrokenEnvironment>("cuda", "cudaStreamEndCapture: nothing is recorded");
  Capture capture = std::move(*queue->capture);
  queue->capture.reset();
  recorded.reset();
  if (capture.broken)
    Throw<BrokenEnvironment>("cuda", "cudaStreamEndCapture: cudaErrorStreamCaptureInvalidated");
  return std::make_shared<const Recording>(std::move(capture.work));
}

void DropRecording(StreamHandle stream) noexcept {
  const Lock lock(All().mutex);
  QueueOf(stream)->capture.reset();
  recorded.reset();
}

void Replay(std::shared_ptr<const Recording> recording, StreamHandle stream) {
  Enqueue(stream, "graph", [recording = std::move(recording)] {
    for (const auto& work : *recording) work();
  });
}

bool TryReach(void* event) {
  const Lock lock(All().mutex);
  return TryReach(EventOf(event).point);
}

bool EventIsDone(void* event) {
  RefuseWhileRecording("cudaEventQuery");
  const Lock lock(All().mutex);
  RequireNotCaptured(event);
  const Point point = EventOf(event).point;
  const bool done = point.queue == nullptr || point.queue->done >= point.end;
  if (!done && !point.queue->waiting.empty()) TryNext(*point.queue);
  return done;
}

namespace {

std::atomic<Observer*> observing{nullptr};

}  // namespace

Observed::Observed(Observer& observer) {
  ReserveMemory(kObservedMemoryBytes);
  Observer* none = nullptr;
  TORUS_CHECK(observing.compare_exchange_strong(none, &observer),
              "GPUs have one observer at a time");
}

Observed::~Observed() { observing = nullptr; }

Observer* Observed::Current() { return observing.load(std::memory_order_relaxed); }

}  // namespace torus::emulated_gpu
