// NcclSender: the sending end of a link between two ranks that carries GPU memory. Internal to the
// NCCL transport.
//
// A send enters the link's stream and is announced at once. The receiver answers when its side is
// in its own stream; from then on only GPU work is waited for. Until then the underlying transport,
// with its deadlines, reports a peer that does not come.
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
  // `comm` connects the two ranks; this rank is its member 0.
  NcclSender(Transport& inner, std::unique_ptr<NcclComm> comm, int peer, double timeout);
  ~NcclSender();

  // As Transport::Send. Dropping a Pending before its message has ended aborts the run: work in a
  // stream cannot be cancelled.
  Pending Send(Tag tag, ConstBuffer buffer, std::string what);
  // Waits until messages that only a stream waits for have arrived.
  void Finish();
  // To be called after Finish: waits for the receiver's Finish too. NCCL's threads may still serve
  // the other side when this one has ended; only after that may the communicator be destroyed.
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
  std::mutex mutex_;  // guards what Send changes: a rank may send from a second thread
  int64_t sent_ = 0;
  // Only the rank's own thread uses what follows. Messages answered: so far, and when the receiver
  // last finished.
  int64_t answered_ = 0, ended_ = 0;
  char answer_ = 0;
  std::optional<Pending> listening_;                 // for the next answer
  std::deque<std::shared_ptr<Message>> on_streams_;  // waited for by streams alone
  std::array<uint64_t, kTagClasses> arrived_{};
};

}  // namespace torus::parallel
