// Meeting: the processes of a new world find each other, and name those that do not come.
#pragma once

#include <mpi.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace torus::parallel {

struct Participant {
  std::string host;
  pid_t process = 0;
};

struct Meeting {
  // Of the world alone, so that no message of another gets into it. It is never freed: a late
  // message of this world would reach the next one of the same number.
  MPI_Comm comm = MPI_COMM_NULL;
  std::vector<Participant> participants;
};

// Of the first `size` processes, each of which calls it. BrokenEnvironment, naming the missing
// ones, after `timeout` seconds.
Meeting Meet(int size, double timeout);

std::vector<int> RanksOnThisHost(const std::vector<Participant>& participants);

// Whether its process is another one of this host, which kill(2) can ask for.
bool IsNeighbour(const Participant& participant);

}  // namespace torus::parallel
