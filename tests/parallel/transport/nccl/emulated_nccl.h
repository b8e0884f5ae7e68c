// EmulatedNccl: NCCL among the emulated GPUs of one process (--config=emulated_gpu).
//
// As NCCL's, its work runs in a stream of the communicator's own, behind what the buffer's stream
// holds, and only once all its members' sides have come to the front of theirs. As all work of the
// emulated GPUs it runs when it is waited for: who reads what arrives without a wait finds what was
// there before. An all-reduce adds from the last member to the first.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "parallel/transport/nccl/nccl_library.h"

namespace torus::parallel {

class EmulatedNccl : public NcclLibrary {
 public:
  void Configure(const NcclSettings&) override {}
  NcclId NewId() override;
  std::vector<std::unique_ptr<NcclComm>> Join(const std::vector<NcclSeat>& seats, Device device,
                                              const Patience& patience) override;
  void Abort(const std::vector<NcclComm*>& comms) noexcept override;
  std::unique_ptr<NcclWork> Mark(Device device, StreamHandle stream) override;
  std::unique_ptr<NcclWork> Copy(Buffer to, const void* from, NcclWork& after) override;

  // Sums and messages that all their sides have been put into a stream for, so far.
  int sums() const { return sums_; }
  int messages() const { return messages_; }

 private:
  class Work;
  class Comm;
  struct Side;
  struct Group;
  std::shared_ptr<Group> Enter(const NcclSeat& seat);

  std::mutex mutex_;
  std::map<NcclId, std::shared_ptr<Group>> groups_;
  int ids_ = 0;
  std::atomic<int> sums_ = 0, messages_ = 0;
};

// NCCL for tests on `gpus` GPUs: the emulated one, or NCCL itself where the GPUs are real; null
// where there are fewer.
std::unique_ptr<NcclLibrary> NcclForTests(int gpus);

}  // namespace torus::parallel
