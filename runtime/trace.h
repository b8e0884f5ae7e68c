// Tracer: scoped events of each thread, written as Chrome trace JSON (Perfetto opens it). While it
// is off, a scope costs one relaxed atomic load.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace torus::trace {

struct Event {
  std::string name;      // "F2"
  std::string category;  // "forward", "backward", "transfer", "optimizer", "data", "idle", ...
  int rank = 0;          // the lane, set by the thread's SetRank
  int64_t begin_ns = 0;  // of the steady clock
  int64_t end_ns = 0;
  int64_t step = -1, micro_batch = -1;  // -1: not given
};

namespace internal {
extern std::atomic<bool> enabled;
}

inline bool Enabled() { return internal::enabled.load(std::memory_order_relaxed); }
void Enable(bool on);

// Names the calling thread's lane in the trace.
void SetRank(int rank, const std::string& name);

// Nanoseconds of the steady clock.
int64_t Now();

// Records one finished event on the calling thread's lane. Does nothing while tracing is off.
void Record(Event event);

// Records an event from construction to destruction. `name` and `category` must outlive the scope
// (use literals).
class Scope {
 public:
  Scope(const char* name, const char* category, int64_t step = -1, int64_t micro_batch = -1)
      : name_(name),
        category_(category),
        step_(step),
        micro_batch_(micro_batch),
        begin_(Enabled() ? Now() : 0) {}
  ~Scope() {
    if (begin_ != 0) Finish();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  void Finish();
  const char* name_;
  const char* category_;
  int64_t step_, micro_batch_, begin_;
};

// Returns and removes all events of all threads, sorted by begin time.
std::vector<Event> Drain();

// Writes `events` as Chrome trace JSON. Throws BrokenEnvironment if the file cannot be written.
void WriteChromeTrace(const std::vector<Event>& events, const std::string& path);

}  // namespace torus::trace
