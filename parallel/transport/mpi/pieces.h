// Pieces: a message of any size as several of MPI, which counts in 31 bits. The MPI transport's own
// part. The caller holds the process' mutex.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace torus::parallel {

// One end of a message: its pieces are of `longest` bytes, but for the last; an empty message has
// one.
struct Pieces {
  MPI_Comm comm;
  int peer;
  int32_t channel;  // the MPI tag of all pieces, which arrive in order
  size_t longest;

  std::vector<MPI_Request> Send(const void* data, size_t bytes) const;
  std::vector<MPI_Request> Recv(void* data, size_t bytes) const;
};

// Whether all have moved; then they are over.
bool TestAll(std::vector<MPI_Request>& pieces);
// Takes the buffers of the last pieces of a receive back, of as many as nothing has reached yet.
size_t CancelLast(std::vector<MPI_Request>& pieces);

}  // namespace torus::parallel
