// Last words: the line that a process writes to stderr when SIGTERM ends it. When a rank dies,
// mpirun sends SIGTERM to the survivors and kills them a second later.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace torus::parallel {

// Another rank whose process is on this host.
struct Neighbour {
  pid_t process = 0;
  std::string name;  // "rank 2 on host a"
};

// Installs a SIGTERM handler. If the run has been aborted or a neighbour has died, the handler
// writes one line to stderr, which begins with `name`, and ends the process with status 1:
//   torus: rank 0 on a stops (SIGTERM): rank 2 on a has died; 0.31 s of waiting for rank 2 to ...
// A process that has not called SayAlive for `silence` seconds also writes a line and ends with
// status 1, but blames nobody: it may have been stopped while the others ended. Otherwise the
// handler calls the one that SIGTERM had before; if there was none, the line says so and the status
// is 143. The handler is installed once per process: later calls change only `name`, `neighbours`
// and `silence`.
void LeaveLastWords(const std::string& name, const std::vector<Neighbour>& neighbours,
                    double silence);
// Restores the previous SIGTERM handler.
void ForgetLastWords();

void SayAlive();
// Sets what the process waits for from now on; empty: nothing.
void SayWaiting(const std::string& what);
// Sets the reason for which the run was aborted.
void SayAborted(const std::string& reason);
// While one exists, SIGTERM does not end the process at once: the handler writes its line, and the
// process ends where the last of them is destroyed. So what it writes gets whole, as far as mpirun
// lets it: OpenMPI's kills a second later (its parameter odls_base_sigkill_timeout). A second
// SIGTERM ends at once.
class EndHeldOff {
 public:
  EndHeldOff();
  ~EndHeldOff();
  EndHeldOff(const EndHeldOff&) = delete;
  EndHeldOff& operator=(const EndHeldOff&) = delete;
};

// Seconds since SIGTERM was passed on to the program's own handler; -1 if it never was.
double SecondsSinceTerm();

}  // namespace torus::parallel
