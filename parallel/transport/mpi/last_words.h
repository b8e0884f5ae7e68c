// Last words: the line that a process leaves when it is told to end. mpirun sends SIGTERM to the
// survivors of a rank that died, and kills them a second later.
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

// From now on SIGTERM writes one line to stderr, which begins with `name`:
//   torus: rank 0 on a stops (SIGTERM): rank 2 on a has died; 0.31 s of waiting for rank 2 to ...
// and ends the process with status 1, where the run has been aborted or a neighbour has died. Who
// has not called SayAlive for `silence` seconds does not say who died: it may have been stopped,
// and the others have ended meanwhile.
// Otherwise it calls the handler that SIGTERM had before; where there was none, the line says so
// and the status is 143. Once a process: later calls only change name and neighbours.
void LeaveLastWords(const std::string& name, const std::vector<Neighbour>& neighbours,
                    double silence);
// From now on SIGTERM does again what it did before.
void ForgetLastWords();

void SayAlive();
// What the process waits for from now on; empty: for nothing.
void SayWaiting(const std::string& what);
// Why the run was aborted.
void SayAborted(const std::string& reason);
// Seconds since SIGTERM was given to the program's own handler; -1: it never was.
double SecondsSinceTerm();

}  // namespace torus::parallel
