#include "runtime/emulated_gpu/queues.h"

#include <array>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "runtime/emulated_gpu/memory.h"
#include "runtime/error.h"

namespace torus::emulated_gpu {
namespace {

struct Queue {
  explicit Queue(int device) : device(device) {}
  const int device;
  std::deque<std::function<void()>> waiting;
  uint64_t put = 0, done = 0;  // pieces of work
};

// Behind the first `end` pieces of a queue.
struct Point {
  std::shared_ptr<Queue> queue;
  uint64_t end = 0;
};

struct Event {
  int device = 0;
  Point point;
};

struct Machine {
  Machine() {
    for (int device = 0; device < kDevices; ++device)
      defaults[device] = std::make_shared<Queue>(device);
  }
  std::recursive_mutex mutex;  // held while work runs: that may wait for other queues
  std::array<std::shared_ptr<Queue>, kDevices> defaults;
  std::vector<std::shared_ptr<Queue>> made;
};

// Never destroyed: events of static lifetime may be dropped after it would be.
Machine& All() {
  static auto* const machine = new Machine;
  return *machine;
}

thread_local int current_device = 0;

std::shared_ptr<Queue> QueueOf(StreamHandle stream) {
  Machine& all = All();
  if (stream == nullptr) return all.defaults[current_device];
  for (const auto& queue : all.made)
    if (queue.get() == stream) return queue;
  Throw<BrokenEnvironment>("stream", "is no stream of an emulated GPU, or destroyed");
}

// One piece: taken out first, so that it is not run again if it throws.
void RunNext(Queue& queue) {
  const auto work = std::move(queue.waiting.front());
  queue.waiting.pop_front();
  struct Count {
    Queue& queue;
    ~Count() { ++queue.done; }
  } count{queue};
  work();
}

// A piece that runs now and, by way of other queues, waits for its own would wait for ever; no
// order of calls can ask for that, since an event stands for what was there before.
void RunTo(const Point& point) {
  if (point.queue == nullptr) return;
  while (point.queue->done < point.end) {
    TORUS_CHECK(!point.queue->waiting.empty(), "a stream waits for itself");
    RunNext(*point.queue);
  }
}

Point EndOf(const std::shared_ptr<Queue>& queue) { return {queue, queue->put}; }

void Put(Queue& queue, std::function<void()> work) {
  queue.waiting.push_back(std::move(work));
  ++queue.put;
}

Event& EventOf(void* event) { return *static_cast<Event*>(event); }

using Lock = std::lock_guard<std::recursive_mutex>;

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
  // What it still has is run before what its device's default stream is given next.
  if (!queue->waiting.empty())
    Put(*All().defaults[queue->device], [end = EndOf(queue)] { RunTo(end); });
  std::erase(All().made, queue);
}

int DeviceOf(StreamHandle stream) {
  const Lock lock(All().mutex);
  return QueueOf(stream)->device;
}

void Enqueue(StreamHandle stream, const std::string& name, std::function<void()> work) {
  const Lock lock(All().mutex);
  const auto queue = QueueOf(stream);
  if (queue->device != current_device)
    Throw<BrokenEnvironment>(name, "is put into a stream of cuda:{} while cuda:{} is the current",
                             queue->device, current_device);
  Put(*queue, std::move(work));
}

void WaitForStream(StreamHandle stream) {
  const Lock lock(All().mutex);
  RunTo(EndOf(QueueOf(stream)));
}

void WaitForDevice(int device) {
  const Lock lock(All().mutex);
  std::vector<std::shared_ptr<Queue>> queues = All().made;
  queues.push_back(All().defaults[device]);
  std::exception_ptr first;
  for (const auto& queue : queues) {
    while (queue->device == device && !queue->waiting.empty()) {
      try {
        RunNext(*queue);
      } catch (...) {
        if (first == nullptr) first = std::current_exception();
      }
    }
  }
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
  EventOf(event).point = EndOf(queue);
}

void WaitForEvent(void* event) {
  const Lock lock(All().mutex);
  RunTo(EventOf(event).point);
}

void StreamWaitsForEvent(StreamHandle stream, void* event) {
  const Lock lock(All().mutex);
  Put(*QueueOf(stream), [point = EventOf(event).point] { RunTo(point); });
}

bool EventIsDone(void* event) {
  const Lock lock(All().mutex);
  const Point point = EventOf(event).point;
  const bool done = point.queue == nullptr || point.queue->done >= point.end;
  if (!done && !point.queue->waiting.empty()) RunNext(*point.queue);
  return done;
}

}  // namespace torus::emulated_gpu
