// NcclReceiver: one rank's end of a link from another, over which it receives a GPU's memory. The
// NCCL transport's own part.
//
// NCCL takes messages in the order in which they were sent. A receive that was started is put into
// the link's stream once its message has been announced and all sent before it have been put there;
// where one of these was not asked for yet and a later one is waited for, it is received into
// memory of the link's own, and copied when it is asked for.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "parallel/transport/nccl/announcement.h"
#include "parallel/transport/nccl/nccl_library.h"
#include "parallel/transport/transfer_text.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

class NcclReceiver {
 public:
  // `comm`: of the two ranks, this one its member 1.
  NcclReceiver(Transport& inner, NcclLibrary& library, std::unique_ptr<NcclComm> comm, int peer,
               Device device, double timeout);
  ~NcclReceiver();

  // As Transport::Recv. A Pending that is dropped while its message is in the stream aborts the
  // run.
  Pending Recv(Tag tag, Buffer buffer, std::string what);
  // Until what only a stream waits for has arrived, and the sender has seen all answers; tells it,
  // and does not wait for that.
  void Finish();
  // Until the sender has heard all that it was told.
  void WaitUntilTold();
  NcclComm& comm() { return *comm_; }

 private:
  struct Held;
  struct Message;
  class State;
  using Messages = std::deque<std::shared_ptr<Message>>;

  void Listen();
  void TakeAnnouncements();
  bool Announced(const Message& message) const;
  WaitTime WaitUntilStarted(const std::shared_ptr<Message>& message);
  void StartThoseAskedFor();
  bool TakeHeld(Message& message);
  void Start(Message& message, const Announcement& announcement);
  std::shared_ptr<Held> Hold(const Announcement& announcement);
  void Answer();
  void Tell(Tag tag);
  WaitTime WaitForEnd(Message& message);
  void KeepUntilEnded(std::shared_ptr<Message> message);
  void KeepUntilEnded(const std::shared_ptr<Held>& held, const TransferText& text);
  void Drop(Message& message) noexcept;

  Transport& inner_;
  NcclLibrary& library_;
  const std::unique_ptr<NcclComm> comm_;
  const int peer_;
  const Device device_;
  const double timeout_;
  Announcement next_;  // into which listening_ receives
  Pending listening_;
  std::deque<Announcement> announced_;      // not in the stream yet, in their order
  Messages asked_for_;                      // not in the stream yet, in the order of their start
  std::deque<std::shared_ptr<Held>> held_;  // not asked for yet
  Messages on_streams_;                     // waited for by streams alone
  bool taken_ = false;                      // something, since the last Finish
  std::deque<Pending> told_;
};

}  // namespace torus::parallel
