// FakeNccl: NCCL's rules without NCCL, among the threads of one process and over the host's memory,
// which stands for that of GPUs.
//
// Work of one member of a communicator runs in order; a send runs once the receive that it meets is
// at the front on the other side, and a message whose sides differ in bytes fails the communicator.
// What a member aborts ends for that member alone, and counts as done.
// An all-reduce sums from the last member to the first, so other bits come out than by our direct
// sum. What is asked for is noted, with the streams.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "parallel/transport/nccl/nccl_library.h"

namespace torus::parallel {

class FakeNccl : public NcclLibrary {
 public:
  NcclId NewId() override;
  std::unique_ptr<NcclComm> Join(const NcclId& id, int size, int rank, Device device, NcclUse use,
                                 const Patience& patience) override;
  std::unique_ptr<NcclWork> Copy(Buffer to, const void* from, NcclWork& after) override;

  // "send 640 bytes behind stream 7", "stream 9 behind a receive", ... in the order of the calls.
  std::vector<std::string> calls();
  // From now on nothing that is put into a stream ends.
  void Stall();
  // From now on every communicator has failed.
  void Fail();
  // As cudaStreamSynchronize: blocks until what `stream` waits for has ended.
  void Synchronize(StreamHandle stream);

  // Of the fake's own parts.
  enum class Kind { kSend, kRecv, kSum };
  struct Op {
    Kind kind;
    char* data;
    size_t bytes;
    DType dtype = DType::kU8;
    bool done = false;
  };
  struct Group {
    std::set<int> joined;
    std::vector<std::deque<std::shared_ptr<Op>>> members;
    std::string error;
    std::set<int> aborted;  // members
  };
  void Note(std::string call);

 private:
  class Work;
  class Comm;
  void Advance(Group& group);
  bool Meet(Group& group);
  static bool MeetSend(Group& group);
  static bool MeetSum(Group& group);

  std::mutex mutex_;
  std::map<NcclId, std::shared_ptr<Group>> groups_;
  std::vector<std::string> calls_;
  std::map<StreamHandle, std::vector<std::shared_ptr<Op>>> waited_for_;  // by streams
  int ids_ = 0;
  bool stalled_ = false, failed_ = false;
};

}  // namespace torus::parallel
