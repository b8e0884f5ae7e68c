// Communicator: some ranks of a run, and the collectives among them (MPI's communicators, NCCL's,
// PyTorch's process groups). Whatever ranks sum, gather, broadcast or agree on goes through one.
//
// All members make the same calls in the same order, with buffers of the same sizes and types, and
// each call names itself by `what` in errors. Deadlines and errors are those of Transport.
//
//                  in CPU memory                      order of the sum
//   AllReduce      by CommunicatorOptions::on_cpu     that algorithm's (all_reduce.h)
//   ReduceScatter  each rank gets its row from all    pairs of neighbours, then of pairs (direct.h)
//   AllGather      each rank sends its row to all     no sum
//   Gather         each rank sends its row to one     no sum
//   Broadcast      along a binary tree (broadcast.h)  no sum
//   AllToAll       each rank sends a block to each    no sum
//
// GPU memory is summed where it lies if `engine_on_gpus` asks for that and the transport has an
// engine; the engine (NCCL) chooses the order of the sum, and all members get the same bits. It is
// gathered from GPU to GPU where the transport connects all members' GPUs. Only the buffers'
// streams wait then. Everything else goes through copies in CPU memory, with the bits of CPU
// memory. So the bits of a sum depend on the options and the engine alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "parallel/collectives/all_reduce.h"
#include "parallel/collectives/pending_collective.h"
#include "parallel/transport/engine.h"
#include "parallel/transport/group.h"
#include "parallel/transport/share.h"
#include "runtime/tensor.h"

namespace torus::parallel {

// Who sums.
struct CommunicatorOptions {
  AllReduceAlgorithm on_cpu = AllReduceAlgorithm::kDirect;
  bool engine_on_gpus = false;  // GPU memory, if the transport moves it and has an engine
};

// The memory of a contiguous tensor, in the current stream of its device. Bumps the version.
Buffer BufferOf(Tensor& tensor);
// The same for a collective that only reads it: changes no version.
Buffer BufferToRead(const Tensor& tensor);
template <class T>
Buffer BufferOf(std::span<T> data) {
  return {data.data(), data.size_bytes()};
}

class Communicator {
 public:
  using Options = CommunicatorOptions;
  // Of all ranks of `transport`, or of `members`, some of its ranks (Group). Sends nothing.
  // `transport` must outlive it.
  explicit Communicator(Transport& transport, Options options = {});
  Communicator(Transport& transport, std::vector<int> members, Options options = {});
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  int rank() const { return transport_.rank(); }
  int size() const { return transport_.size(); }
  const Options& options() const { return options_; }
  Transport& transport() const { return transport_; }  // of the members alone

  // Small messages, of TagClass::kControl: they do not count as traffic of the run.

  // Returns `value` of every member, in rank order (Bruck's all-gather, share.h). Adds to `waited`,
  // if given, the seconds that it waited for others.
  template <class T>
  std::vector<T> Share(const T& value, const std::string& what, double* waited = nullptr) {
    return parallel::Share(transport_, kRecord, value, what, waited);
  }
  // The same with records of one size, which it concatenates.
  std::vector<std::byte> ShareRecord(std::span<const std::byte> record, const std::string& what);
  // The same with bytes whose number may differ between members.
  std::vector<std::vector<std::byte>> ShareBytes(std::span<const std::byte> bytes,
                                                 const std::string& what);
  // Returns when all members have called it: on rank 0 the bytes of every member, in rank order; on
  // the others nothing.
  std::vector<std::vector<std::byte>> Gather(std::span<const std::byte> bytes,
                                             const std::string& what);
  // Returns rank 0's text on every member.
  std::string BroadcastText(std::string text, const std::string& what);
  // Returns rank 0's `value` on every member. Rank 0 does not wait for the others, so it may be
  // several calls ahead.
  uint8_t Announce(uint8_t value, const std::string& what);
  void Barrier(const std::string& what);

  // Sums, of f64, f32, i64 or i32.

  // Whether it sums memory of `device` where it lies: always on a CPU.
  bool SumsOn(Device device) const;
  // Makes the members meet for `engine_on_gpus`; else the first such sum does, and waits for all.
  // Returns whether there is an engine.
  bool MeetEngine();
  // Every member ends with the sum.
  void AllReduce(Buffer data, DType dtype, const std::string& what);
  template <class T>
  void AllReduce(std::span<T> data, const std::string& what) {
    AllReduce(BufferOf(data), kDTypeOf<T>, what);
  }
  // Returns the sum, in new memory on the device of `own`. Takes floating-point tensors; 16-bit
  // ones are summed as f32 and rounded once.
  Tensor AllReduce(const Tensor& own, const std::string& what);
  // Starts one. Those in flight at the same time have different lanes, numbered from 0; those of a
  // lane start in the same order on all members. In CPU memory only a direct sum overlaps other
  // work (direct.h); others run in Finish. On a GPU Finish makes the buffer's stream wait.
  std::unique_ptr<PendingCollective> StartAllReduce(Buffer data, DType dtype, std::string what,
                                                    int lane);
  // Rank r's row r becomes the sum; its other rows are unchanged.
  void ReduceScatter(const std::vector<Buffer>& rows, DType dtype, const std::string& what);

  // Copies, of any type.

  // Before it rank r holds row r, after it every rank holds all.
  void AllGather(const std::vector<Buffer>& rows, const std::string& what);
  // Returns the tensors of all members, of one shape and dtype, on the device of `own`.
  std::vector<Tensor> AllGather(const Tensor& own, const std::string& what);
  // Starts one in CPU memory; lanes are as for StartAllReduce.
  std::unique_ptr<PendingCollective> StartAllGather(const std::vector<Buffer>& rows,
                                                    const std::string& what, int lane);
  // After it rank `root` holds all rows; those of others need memory on it alone. Does not count as
  // traffic of the run.
  void Gather(int root, const std::vector<Buffer>& rows, const std::string& what);
  // Copies rank `root`'s memory to all members.
  void Broadcast(Buffer data, int root, const std::string& what);
  // Those of rank 0, each by its name. Throws BadInput unless they are contiguous.
  void Broadcast(const std::vector<NamedTensor>& tensors, const std::string& what);
  // Block j of `send` on rank i becomes block i of `receive` on rank j (all_to_all.h).
  void AllToAll(Buffer send, Buffer receive, const std::string& what);

 private:
  // What a collective does with a buffer.
  enum class Use : uint8_t { kNone, kReads, kWrites, kBoth };
  static constexpr Tag kRecord{TagClass::kControl, (3 << 22) + 1};
  static constexpr Tag kAnnouncement{TagClass::kControl, (3 << 22) + 2};
  struct Announcement {
    explicit Announcement(uint8_t value) : value(value) {}
    uint8_t value;
    std::vector<Pending> sends;
  };
  template <class Run>
  void InCpuMemory(const std::vector<Buffer>& buffers, const std::vector<Use>& uses,
                   const Run& run) const;
  std::vector<Use> UsesOfRows(Use own, Use others) const;
  bool Connects(const std::vector<Buffer>& rows) const;
  Engine* EngineFor(Device device);

  const std::unique_ptr<Group> group_;  // null: all ranks of the transport
  Transport& transport_;
  const Options options_;
  std::optional<Engine*> engine_;       // none: the members have not met
  std::deque<Announcement> announced_;  // which some ranks may not have received yet
};

}  // namespace torus::parallel
