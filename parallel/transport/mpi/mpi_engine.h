// MpiEngine: MPI's own collectives among some ranks of an MpiWorld. Internal to the MPI transport.
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
  // All `members`, ranks of `world` that include this one, construct it together. They first
  // exchange messages, which have deadlines; the creation of an MPI communicator has none.
  MpiEngine(MpiState& state, Transport& world, const std::vector<int>& members);
  ~MpiEngine() override;
  MpiEngine(const MpiEngine&) = delete;
  MpiEngine& operator=(const MpiEngine&) = delete;

  // Calls MPI_Iallreduce. Its progress cannot be observed, so it must end within the world's
  // timeout.
  Pending AllReduce(Buffer data, DType dtype, std::string what) override;

  // So far, to the next member.
  uint64_t bytes_computed() const { return bytes_computed_; }
  int next() const { return next_; }

 private:
  MpiState& state_;
  const size_t members_;
  const int next_;  // the next member, cyclically: the one this rank reports waiting for
  uint64_t bytes_computed_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

// An all-reduce in flight. It cannot be cancelled: the destructor waits for it, for at most the
// grace period.
class MpiSum : public MpiTransfer {
 public:
  MpiSum(MpiState& state, TransferText text, std::vector<MPI_Request> requests);
  ~MpiSum() override;

 private:
  void Finish() override {}
};

}  // namespace torus::parallel
