// Pieces: splits a message of any size into several MPI messages, since MPI counts in 31 bits. The
// caller holds the process's mutex. Internal to the MPI transport.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torus::parallel {

// One end of a message. All pieces but the last have `longest` bytes; an empty message has one
// piece.
struct Pieces {
  MPI_Comm comm;
  int peer;
  int32_t channel;  // the MPI tag of all pieces, which arrive in order
  size_t longest;

  std::vector<MPI_Request> Send(const void* data, size_t bytes) const;
  std::vector<MPI_Request> Recv(void* data, size_t bytes) const;
};

// Whether all have completed; their requests are freed then.
bool TestAll(std::vector<MPI_Request>& pieces);
// Cancels the last pieces of a receive, as many as no data has reached yet; returns how many.
size_t CancelLast(std::vector<MPI_Request>& pieces);

}  // namespace torus::parallel
