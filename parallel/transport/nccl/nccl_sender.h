// NcclSender: the sending end of a link between two ranks that carries GPU memory. Internal to the
// NCCL transport.
//
// A send is announced at once, and asks for its turn. The receiver answers when it asks too; from
// then on only GPUs are waited for. Until then the underlying transport, with its deadlines,
// reports a peer that does not come.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "parallel/transport/nccl/nccl_launches.h"
#include "parallel/transport/nccl/nccl_link.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

class NcclSender {
 public:
  NcclSender(Transport& inner, NcclLaunches& launches, const NcclLink& link);
  ~NcclSender();

  // As Transport::Send. Dropping a Pending before its message has ended aborts the run: a turn, and
  // work in a stream, cannot be cancelled.
  Pending Send(Tag tag, ConstBuffer buffer, std::string what);
  // Waits until messages that only a stream waits for have arrived.
  void Finish();
  // To be called after Finish: waits for the receiver's Finish too. NCCL's threads may still serve
  // the other side when this one has ended; only after that may the communicator be destroyed.
  void WaitForReceiver();
  uint64_t bytes_arrived(TagClass kind);

 private:
  struct Message;
  class State;
  WaitTime WaitForAnswer(Message& message);
  bool IsAnswered(const Message& message);
  void Listen();
  bool Ended(Message& message);
  void KeepUntilEnded(std::shared_ptr<Message> message);
  void CountEnded();
  void Drop(Message& message) noexcept;

  Transport& inner_;
  NcclLaunches& launches_;
  const NcclLink link_;
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
