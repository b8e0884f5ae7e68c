// FakeNccl: NCCL's rules without NCCL, among the threads of one process and over the host's memory,
// which stands for that of GPUs. The thread that joins communicators stands for its GPU.
//
// Operations of a communicator meet in the order in which each member launches them. All their
// members' kernels must run for one to end, and a GPU runs only so many at a time; if kernels start
// in order, none starts before those launched before it on its GPU have started. Until settings say
// otherwise, NCCL's own defaults hold. What NCCL forbids, or what blocks a thread of it for ever,
// is a fault that faults() tells at the end. What a member aborts ends for that member alone, and
// counts as done. An all-reduce sums from the last member to the first, so other bits come out than
// by our direct sum. What is asked for is noted, with the streams.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "parallel/transport/nccl/nccl_library.h"

namespace torus::parallel {

class FakeNccl : public NcclLibrary {
 public:
  explicit FakeNccl(int kernels_at_once = 1) : kernels_at_once_(kernels_at_once) {}

  void Configure(const NcclSettings& settings) override;
  NcclId NewId() override;
  std::vector<std::unique_ptr<NcclComm>> Join(const std::vector<NcclSeat>& seats, Device device,
                                              const Patience& patience) override;
  void Abort(const std::vector<NcclComm*>& comms) noexcept override;
  std::unique_ptr<NcclWork> Mark(Device device, StreamHandle stream) override;
  std::unique_ptr<NcclWork> Copy(Buffer to, const void* from, NcclWork& after) override;

  // "send 640 bytes behind stream 7", "stream 9 behind a receive", ... in the order of the calls.
  std::vector<std::string> calls();
  // What NCCL forbids and was done all the same. Launches in orders that contradict each other on
  // two GPUs are found here.
  std::vector<std::string> faults();
  // Communicators that each GPU has joined.
  std::vector<int> communicators();
  // From now on nothing that is launched ends.
  void Stall();
  // From now on every communicator has failed, without any call under way.
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
    int instance = 0;  // the same number for all members' sides
    bool started = false, done = false;
  };
  struct Gpu {
    std::vector<std::shared_ptr<Op>> launched;  // and not done, in order
    std::vector<int> order;                     // instances, of all that was launched
    int communicators = 0;
  };
  struct Group {
    std::set<int> joined;
    std::vector<Gpu*> gpus;  // of the members
    std::vector<std::deque<std::shared_ptr<Op>>> members;
    std::vector<size_t> launched;                // how many, by member
    std::vector<int> instances;                  // of the n-th operation
    std::map<std::string, std::set<int>> first;  // members that have used an algorithm
    std::string error;
    std::set<int> aborted;  // members
  };
  void Note(std::string call);

 private:
  class Work;
  class Copied;
  class Marked;
  class Comm;
  std::unique_ptr<NcclWork> Launch(const std::shared_ptr<Group>& group, int member, Op op,
                                   NcclWork& after);
  void ConnectFirst(std::unique_lock<std::mutex>& lock, Group& group, int member, const Op& op);
  void Advance();
  void StartKernels(Gpu& gpu) const;
  bool Meet(Group& group);
  static bool MeetSend(Group& group, Op& send, Op& recv);
  static bool MeetSum(Group& group);
  static void TakeFirst(Group& group);
  Gpu& GpuOfThread();

  const int kernels_at_once_;
  std::mutex mutex_;
  NcclSettings settings_;
  std::map<NcclId, std::shared_ptr<Group>> groups_;
  std::map<std::thread::id, std::unique_ptr<Gpu>> gpus_;
  std::vector<std::string> calls_, faults_;
  std::map<StreamHandle, std::vector<std::shared_ptr<Op>>> waited_for_;  // by streams
  int ids_ = 0, instances_ = 0;
  bool stalled_ = false, failed_ = false;
};

}  // namespace torus::parallel
