// NcclReceiver: the receiving end of a link between two ranks that carries GPU memory. Internal to
// the NCCL transport.
//
// NCCL delivers messages in the order in which they were sent. A receive enters the link's stream
// once its message has been announced and all earlier messages are in the stream. If an earlier
// message has not been requested yet while a later one is waited for, the earlier one is received
// into the link's own memory and copied when it is requested.
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
  // `comm` connects the two ranks; this rank is its member 1.
  NcclReceiver(Transport& inner, NcclLibrary& library, std::unique_ptr<NcclComm> comm, int peer,
               Device device, double timeout);
  ~NcclReceiver();

  // As Transport::Recv. Dropping a Pending whose message is in the stream aborts the run.
  Pending Recv(Tag tag, Buffer buffer, std::string what);
  // Waits until messages that only a stream waits for have arrived and the sender has seen all
  // answers. Then tells the sender, without waiting for it to hear.
  void Finish();
  // Waits until the sender has received all that it was told.
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
  Announcement next_;  // buffer of listening_
  Pending listening_;
  std::deque<Announcement> announced_;      // not in the stream yet, in order
  Messages asked_for_;                      // receives not in the stream yet, in order
  std::deque<std::shared_ptr<Held>> held_;  // received, but not requested yet
  Messages on_streams_;                     // waited for by streams alone
  bool taken_ = false;                      // any message since the last Finish
  std::deque<Pending> told_;
};

}  // namespace torus::parallel
