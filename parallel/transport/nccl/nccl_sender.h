// NcclSender: one rank's end of a link to another, over which it sends a GPU's memory. The NCCL
// transport's own part.
//
// A send is put into the link's stream and announced at once. The receiver answers when it has put
// its side into its stream; from then on only the GPUs' work is waited for. So a rank that does not
// come is named by the transport underneath, with its deadlines.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "parallel/transport/nccl/nccl_library.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

class NcclSender {
 public:
  // `comm`: of the two ranks, this one its member 0.
  NcclSender(Transport& inner, std::unique_ptr<NcclComm> comm, int peer, double timeout);
  ~NcclSender();

  // As Transport::Send. A Pending that is dropped before the message has ended aborts the run: what
  // is in a stream cannot be taken back.
  Pending Send(Tag tag, ConstBuffer buffer, std::string what);
  // Until what only a stream waits for has arrived.
  void Finish();
  // Behind it, until the receiver's Finish too: a side that has ended still works for the other, by
  // threads of NCCL's, and the communicator may go only when that is done.
  void WaitForReceiver();
  uint64_t bytes_arrived(TagClass kind);
  NcclComm& comm() { return *comm_; }

 private:
  struct Message;
  class State;
  WaitTime WaitForAnswer(Message& message);
  WaitTime WaitForEnd(Message& message);
  bool IsAnswered(const Message& message);
  void Listen();
  bool Ended(Message& message);
  void KeepUntilEnded(std::shared_ptr<Message> message);
  void CountEnded();
  void Drop(Message& message) noexcept;

  Transport& inner_;
  const std::unique_ptr<NcclComm> comm_;
  const int peer_;
  const double timeout_;
  std::mutex mutex_;  // of what Send changes: a rank may send from a second thread
  int64_t sent_ = 0;
  // The rank's own thread's:
  int64_t answered_ = 0, ended_ = 0;  // of those sent; the latter when the receiver last finished
  char answer_ = 0;
  std::optional<Pending> listening_;                 // for the next answer
  std::deque<std::shared_ptr<Message>> on_streams_;  // waited for by streams alone
  std::array<uint64_t, kTagClasses> arrived_{};
};

}  // namespace torus::parallel
