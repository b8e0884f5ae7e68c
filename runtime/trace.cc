#include "runtime/trace.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <nlohmann/json.hpp>

#include "runtime/io/file.h"

namespace torus::trace {
namespace {

// A thread's events, in chunks. Only the thread appends and only Drain removes, so recording needs
// no lock.
class Lane {
 public:
  ~Lane() {
    while (head_ != nullptr) head_ = std::unique_ptr<Chunk>(head_->next.load());
  }

  void Append(Event event) {
    size_t count = tail_->count.load(std::memory_order_relaxed);
    if (count == kChunk) {
      Chunk* fresh = new Chunk;
      tail_->next.store(fresh, std::memory_order_release);
      tail_ = fresh;
      count = 0;
    }
    tail_->events[count] = std::move(event);
    tail_->count.store(count + 1, std::memory_order_release);
  }

  void TakeAll(std::vector<Event>& out) {
    for (;;) {
      const size_t count = head_->count.load(std::memory_order_acquire);
      for (; taken_ < count; ++taken_) out.push_back(std::move(head_->events[taken_]));
      // A full chunk is left once the thread has started its successor.
      Chunk* next = count == kChunk ? head_->next.load(std::memory_order_acquire) : nullptr;
      if (next == nullptr) return;
      head_ = std::unique_ptr<Chunk>(next);
      taken_ = 0;
    }
  }

  int rank = 0;                    // used by the thread only
  std::atomic<bool> ended{false};  // the thread has ended and appends no more

 private:
  static constexpr size_t kChunk = 256;
  struct Chunk {
    std::array<Event, kChunk> events;
    std::atomic<size_t> count{0};
    std::atomic<Chunk*> next{nullptr};
  };
  std::unique_ptr<Chunk> head_ = std::make_unique<Chunk>();  // used by Drain
  Chunk* tail_ = head_.get();                                // used by the thread
  size_t taken_ = 0;
};

}  // namespace

struct Recorder::Lanes {
  std::atomic<bool> enabled{false};
  std::mutex mutex;
  std::vector<std::shared_ptr<Lane>> lanes;
  std::map<int, std::string> names;
};

Recorder::Recorder() : lanes_(std::make_unique<Lanes>()) {}
Recorder::~Recorder() = default;

namespace {

thread_local WithRecorder* innermost = nullptr;  // of the calling thread

// Never destroyed: threads may record while the process ends.
Recorder& OfProcess() {
  static auto* const recorder = new Recorder;
  return *recorder;
}

}  // namespace

// What the functions below see of the two classes.
struct Access {
  using Lanes = Recorder::Lanes;

  static Recorder& Here() {
    return innermost == nullptr || innermost->recorder_ == nullptr ? OfProcess()
                                                                   : *innermost->recorder_;
  }
  static Lanes& LanesHere() { return *Here().lanes_; }

  static std::shared_ptr<Lane> OpenLane(Lanes& lanes) {
    auto lane = std::make_shared<Lane>();
    const std::lock_guard lock(lanes.mutex);
    lanes.lanes.push_back(lane);
    return lane;
  }

  // The calling thread's in its recorder, opened at the first event.
  static Lane& MyLane() {
    if (innermost == nullptr || innermost->recorder_ == nullptr) return LaneOfProcess();
    if (innermost->lane_ == nullptr) innermost->lane_ = OpenLane(*innermost->recorder_->lanes_);
    return *static_cast<Lane*>(innermost->lane_.get());
  }

 private:
  // Marks the lane when the thread ends.
  struct LaneOfThread {
    LaneOfThread() : lane(OpenLane(*OfProcess().lanes_)) {}
    ~LaneOfThread() { lane->ended.store(true, std::memory_order_release); }
    const std::shared_ptr<Lane> lane;
  };
  static Lane& LaneOfProcess() {
    thread_local const LaneOfThread mine;
    return *mine.lane;
  }
};

std::shared_ptr<Recorder> Recorder::Current() {
  return innermost == nullptr ? nullptr : innermost->recorder_;
}

WithRecorder::WithRecorder(std::shared_ptr<Recorder> recorder)
    : recorder_(std::move(recorder)), before_(innermost) {
  innermost = this;
}

WithRecorder::~WithRecorder() {
  if (lane_ != nullptr)
    static_cast<Lane*>(lane_.get())->ended.store(true, std::memory_order_release);
  innermost = before_;
}

namespace {

nlohmann::json Metadata(const char* what, int rank, nlohmann::json args) {
  return {{"ph", "M"}, {"name", what}, {"pid", 0}, {"tid", rank}, {"args", std::move(args)}};
}

// Times are microseconds since `origin`.
nlohmann::json Complete(const Event& event, int64_t origin) {
  nlohmann::json args = nlohmann::json::object();
  if (event.step >= 0) args["step"] = event.step;
  if (event.micro_batch >= 0) args["micro_batch"] = event.micro_batch;
  return {{"ph", "X"},
          {"name", event.name},
          {"cat", event.category},
          {"pid", 0},
          {"tid", event.rank},
          {"ts", static_cast<double>(event.begin_ns - origin) / 1000},
          {"dur", static_cast<double>(event.end_ns - event.begin_ns) / 1000},
          {"args", std::move(args)}};
}

std::map<int, std::string> NamesOf(const std::vector<Event>& events) {
  Access::Lanes& here = Access::LanesHere();
  const std::lock_guard lock(here.mutex);
  std::map<int, std::string> names = here.names;
  for (const Event& event : events)
    names.try_emplace(event.rank, "rank " + std::to_string(event.rank));
  return names;
}

std::string Dump(const nlohmann::json& json) {
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

bool Enabled() { return Access::LanesHere().enabled.load(std::memory_order_relaxed); }

void Enable(bool on) { Access::LanesHere().enabled.store(on, std::memory_order_relaxed); }

void SetRank(int rank, const std::string& name) {
  Access::MyLane().rank = rank;
  Access::Lanes& here = Access::LanesHere();
  const std::lock_guard lock(here.mutex);
  here.names[rank] = name;
}

int64_t Now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

void Record(Event event) {
  if (!Enabled()) return;
  Lane& lane = Access::MyLane();
  event.rank = lane.rank;
  lane.Append(std::move(event));
}

// Called by the destructor: without memory for it, the event is lost.
void Scope::Finish() {
  try {
    Record({name_, category_, 0, begin_, Now(), step_, micro_batch_});
  } catch (const std::bad_alloc&) {
  }
}

std::vector<Event> Drain() {
  std::vector<Event> events;
  {
    Access::Lanes& here = Access::LanesHere();
    const std::lock_guard lock(here.mutex);
    std::erase_if(here.lanes, [&](const std::shared_ptr<Lane>& lane) {
      const bool ended = lane->ended.load(std::memory_order_acquire);
      lane->TakeAll(events);
      return ended;
    });
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return a.begin_ns < b.begin_ns; });
  return events;
}

void WriteChromeTrace(const std::vector<Event>& events, const std::string& path) {
  int64_t origin = events.empty() ? 0 : events.front().begin_ns;
  for (const Event& event : events) origin = std::min(origin, event.begin_ns);
  std::string text = "{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n";
  text += Dump(Metadata("process_name", 0, {{"name", "torus"}}));
  for (const auto& [rank, name] : NamesOf(events)) {
    text += ",\n" + Dump(Metadata("thread_name", rank, {{"name", name}}));
    text += ",\n" + Dump(Metadata("thread_sort_index", rank, {{"sort_index", rank}}));
  }
  for (const Event& event : events) text += ",\n" + Dump(Complete(event, origin));
  text += "\n]}\n";
  io::OutputFile file(path);
  file.Write(text);
  file.Close(false);
}

}  // namespace torus::trace
