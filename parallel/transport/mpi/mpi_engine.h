// MpiEngine: MPI's own collectives among some ranks of an MpiWorld. The MPI transport's own part.
#pragma once

#include <mpi.h>

#include <string>
#include <vector>

#include "parallel/transport/engine.h"
#include "parallel/transport/mpi/mpi_state.h"
#include "parallel/transport/mpi/mpi_transfer.h"

namespace torus::parallel {

class MpiEngine : public Engine {
 public:
  // All `members`, which are ranks of `world` and this one among them, make it together: they meet
  // by messages first, which have deadlines, since MPI makes a communicator without one.
  MpiEngine(MpiState& state, Transport& world, const std::vector<int>& members);
  ~MpiEngine() override;
  MpiEngine(const MpiEngine&) = delete;
  MpiEngine& operator=(const MpiEngine&) = delete;

  // MPI_Iallreduce. Nothing is seen of its progress: it must end within the timeout of the world.
  Pending AllReduce(Buffer data, DType dtype, std::string what) override;

 private:
  MpiState& state_;
  const int next_;  // the member behind this rank, in a circle: the one that it says it waits for
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// An all-reduce under way. It cannot be taken back: one that is dropped is waited for, for the
// grace.
class MpiSum : public MpiTransfer {
 public:
  MpiSum(MpiState& state, TransferText text, std::vector<MPI_Request> requests);
  ~MpiSum() override;

 private:
  void Finish() override {}
};

}  // namespace torus::parallel
