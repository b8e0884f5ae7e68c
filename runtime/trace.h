// Tracer: scoped events of each thread, written as Chrome trace JSON (Perfetto opens it). While it
// is off, a scope costs little more than one relaxed atomic load.
//
// Events go to the calling thread's recorder: the process's, unless the thread works for a run that
// has its own (run_context.h). The functions below are about that recorder.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace torus::trace {

// What a thread did from one time to another.
struct Event {
  std::string name;      // "F2"
  std::string category;  // "forward", "backward", "transfer", "optimizer", "data", "idle", ...
  int rank = 0;          // the lane, set by the thread's SetRank
  int64_t begin_ns = 0;  // of the steady clock
  int64_t end_ns = 0;    // likewise
  int64_t step = -1, micro_batch = -1;  // -1: not given
};

// The events of a run's threads, apart from those of others. Thread-safe.
class Recorder {
 public:
  Recorder();  // off
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  // The calling thread's; null: the process's.
  static std::shared_ptr<Recorder> Current();

 private:
  struct Lanes;
  const std::unique_ptr<Lanes> lanes_;
  friend struct Access;
};

// While one exists, the calling thread records into `recorder`; null: into the process's.
class WithRecorder {
 public:
  explicit WithRecorder(std::shared_ptr<Recorder> recorder);
  ~WithRecorder();
  WithRecorder(const WithRecorder&) = delete;
  WithRecorder& operator=(const WithRecorder&) = delete;

 private:
  const std::shared_ptr<Recorder> recorder_;
  std::shared_ptr<void> lane_;  // the thread's in the recorder, from its first event on
  WithRecorder* const before_;
  friend class Recorder;
  friend struct Access;
};

// Whether the thread's recorder records. Enable turns it on and off.
bool Enabled();
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

// Returns and removes all events of the recorder's threads, sorted by begin time.
std::vector<Event> Drain();

// Writes `events` as Chrome trace JSON. Throws BrokenEnvironment if the file cannot be written.
void WriteChromeTrace(const std::vector<Event>& events, const std::string& path);

}  // namespace torus::trace
