#include "parallel/transport/mpi/pieces.h"

#include <algorithm>

#include "parallel/transport/mpi/mpi_process.h"

namespace torus::parallel {
namespace {

// Calls start(offset, bytes, request) for each piece.
template <class Fn>
std::vector<MPI_Request> Start(size_t bytes, size_t longest, const Fn& start) {
  std::vector<MPI_Request> pieces;
  size_t offset = 0;
  do {
    const size_t size = std::min(bytes - offset, longest);
    start(offset, static_cast<int>(size), &pieces.emplace_back(MPI_REQUEST_NULL));
    offset += size;
  } while (offset < bytes);
  return pieces;
}

bool Cancel(MPI_Request& piece) {
  CheckMpi(MPI_Cancel(&piece), "MPI_Cancel");
  int done = 0, cancelled = 0;
  MPI_Status status;
  CheckMpi(MPI_Test(&piece, &done, &status), "MPI_Test");
  if (done) MPI_Test_cancelled(&status, &cancelled);
  return cancelled != 0;
}

}  // namespace

std::vector<MPI_Request> Pieces::Send(const void* data, size_t bytes) const {
  return Start(bytes, longest, [&](size_t offset, int size, MPI_Request* request) {
    CheckMpi(MPI_Isend(static_cast<const char*>(data) + offset, size, MPI_BYTE, peer, channel, comm,
                       request),
             "MPI_Isend");
  });
}

std::vector<MPI_Request> Pieces::Recv(void* data, size_t bytes) const {
  return Start(bytes, longest, [&](size_t offset, int size, MPI_Request* request) {
    CheckMpi(
        MPI_Irecv(static_cast<char*>(data) + offset, size, MPI_BYTE, peer, channel, comm, request),
        "MPI_Irecv");
  });
}

bool TestAll(std::vector<MPI_Request>& pieces) {
  int all = 0;
  CheckMpi(MPI_Testall(static_cast<int>(pieces.size()), pieces.data(), &all, MPI_STATUSES_IGNORE),
           "MPI_Testall");
  return all != 0;
}

size_t CancelLast(std::vector<MPI_Request>& pieces) {
  size_t cancelled = 0;
  while (cancelled < pieces.size() && Cancel(pieces[pieces.size() - 1 - cancelled])) ++cancelled;
  return cancelled;
}

}  // namespace torus::parallel
