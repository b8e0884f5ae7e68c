// RankProcess: the process of one rank, with limited resources and without a network.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace torus::tools::labs {

struct Limits {
  int cpu_seconds = 10;                         // of each process
  uint64_t memory_bytes = uint64_t{512} << 20;  // address space of each process
  double deadline = 60;                         // seconds after which a run of the ranks is ended
};

// The process cannot write or remove files, make sockets or access other processes (CallFilter),
// and ends when the grader ends. That prevents accidents; it does not contain a program that tries
// to break out.
class RankProcess {
 public:
  // Throws BrokenEnvironment if the system refuses.
  RankProcess(const std::string& program, const Limits& limits);
  ~RankProcess();  // ends the process and all that it has started
  RankProcess(const RankProcess&) = delete;
  RankProcess& operator=(const RankProcess&) = delete;

  int door() const { return door_; }        // non-blocking socket for heads (lab_protocol.h)
  int printed() const { return printed_; }  // non-blocking; gives what the process prints

  // For a process that has closed its socket: waits at most a second for its end. Returns how it
  // ended, as text: "crashed: signal 11 (Segmentation fault)", or that it still runs. `limits`
  // serves to recognize a limit that it exceeded.
  std::string WaitForEnd(const Limits& limits);

 private:
  pid_t pid_ = -1;
  int door_ = -1, printed_ = -1;
};

}  // namespace torus::tools::labs
