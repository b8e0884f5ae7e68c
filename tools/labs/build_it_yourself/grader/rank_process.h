// A rank's process: a program of its own, held within limits and without a network.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace torus::tools::labs {

struct Limits {
  int cpu_seconds = 10;                         // of each process
  uint64_t memory_bytes = uint64_t{512} << 20;  // address space of each process
  double deadline = 60;                         // seconds until a run of the ranks is ended
};

// It writes and removes no files, makes no sockets, looks into no other process (FilterCalls), and
// ends with the grader. That holds off accidents; it is no jail for a program that wants to break
// out.
class RankProcess {
 public:
  // BrokenEnvironment where the system refuses.
  RankProcess(const std::string& program, const Limits& limits);
  ~RankProcess();  // ends it, with all that it has started
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  int door() const { return door_; }        // non-blocking: heads both ways
  int printed() const { return printed_; }  // non-blocking: what it prints

  // For a process whose door has closed: waits for its end, a second at most. How it ended, as a
  // person would say it: "crashed: signal 11 (Segmentation fault)", or that it goes on; `limits`
  // for what it ran into.
  std::string WaitForEnd(const Limits& limits);

 private:
  pid_t pid_ = -1;
  int door_ = -1, printed_ = -1;
};

}  // namespace torus::tools::labs
