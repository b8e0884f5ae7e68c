// MpiSharedBuffers: SharedBuffers of MpiWorld ranks on one host. Internal to the MPI transport.
#pragma once

#include <string>
#include <vector>

#include "parallel/transport/mpi/mpi_state.h"
#include "parallel/transport/mpi/mpi_transfer.h"
#include "parallel/transport/mpi/shared_memory.h"
#include "parallel/transport/shared_buffers.h"

namespace torus::parallel {

class MpiSharedBuffers : public SharedBuffers {
 public:
  // All `members`, ranks of `world` that include this one, construct it together. They tell each
  // other by messages where their memory is and whether they can map everyone else's.
  MpiSharedBuffers(MpiState& state, Transport& world, std::vector<int> members);

  // Whether every member can access every buffer. The same on all members.
  bool usable() const { return usable_; }

  std::span<std::byte> buffer(int member) const override;
  int64_t mark(int member) const override;
  void RaiseMark() override;
  Pending Await(int member, int64_t mark, Tag tag, size_t bytes, std::string what) override;
  void CountSent(int member, TagClass kind, size_t bytes) override;

 private:
  MpiState& state_;
  const std::vector<int> members_;
  size_t own_ = 0;                    // this rank's index
  std::vector<SharedMemory> memory_;  // of each member
  bool usable_ = false;
};

// A wait for a mark.
class MpiMark : public MpiTransfer {
 public:
  MpiMark(MpiState& state, TransferText text, const MpiSharedBuffers& buffers, int member,
          int64_t mark)
      : MpiTransfer(state, std::move(text)), buffers_(buffers), member_(member), mark_(mark) {}

 private:
  bool Moved() override { return buffers_.mark(member_) >= mark_; }
  void Finish() override {}

  const MpiSharedBuffers& buffers_;
  const int member_;
  const int64_t mark_;
};

}  // namespace torus::parallel
