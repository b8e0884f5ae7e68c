// Meeting: the processes of a new world find each other and report those that do not come.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "runtime/usable_cores.h"

namespace torus::parallel {

struct Participant {
  std::string host;
  pid_t process = 0;
  UsableCores cores{};  // of that process
};

struct Meeting {
  // The world's own communicator, so that messages of other worlds do not get into it. It is never
  // freed: otherwise a late message of this world could reach the next communicator with the same
  // number.
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Participant> participants;
};

// The first `size` processes all call it; returns when all have. Throws BrokenEnvironment after
// `timeout` seconds, naming the missing processes.
Meeting Meet(int size, double timeout);

std::vector<int> RanksOnThisHost(const std::vector<Participant>& participants);

// Whether more ranks than it has cores share the cores that this process may use: `own`. mpirun
// leaves the same ones to all processes of a host, or binds each to ones of its own.
bool SharesCores(const std::vector<Participant>& participants, const UsableCores& own);

// Whether it is another process of this host that kill(2) can check.
bool IsNeighbour(const Participant& participant);

}  // namespace torus::parallel
