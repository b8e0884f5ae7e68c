// NcclReceiver: the receiving end of a link between two ranks that carries GPU memory. Internal to
// the NCCL transport.
//
// Messages are received in the order in which they were sent. A receive asks for its turn once its
// message has been announced and all earlier ones have asked. If an earlier message has not been
// requested yet while a later one is waited for, the earlier one is received into the link's own
// memory and copied when it is waited for.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "parallel/transport/nccl/announcement.h"
#include "parallel/transport/nccl/nccl_launches.h"
#include "parallel/transport/nccl/nccl_link.h"
#include "parallel/transport/transfer_text.h"
#include "parallel/transport/transport.h"

namespace torus::parallel {

class NcclReceiver {
 public:
  NcclReceiver(Transport& inner, NcclLibrary& library, NcclLaunches& launches, const NcclLink& link,
               Device device);
  ~NcclReceiver();

  // As Transport::Recv. Dropping a Pending whose message has asked for its turn aborts the run.
  Pending Recv(Tag tag, Buffer buffer, std::string what);
  // Waits until messages that only a stream waits for have arrived and the sender has seen all
  // answers. Then tells the sender, without waiting for it to hear.
  void Finish();
  // Waits until the sender has received all that it was told.
  void WaitUntilTold();

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
  std::shared_ptr<NcclLaunch> Put(const Buffer& buffer, const TransferText& text);
  std::shared_ptr<Held> Hold(const Announcement& announcement, const TransferText& text);
  NcclWork& WorkOf(Message& message);
  bool Ended(Message& message);
  void Answer();
  void Tell(Tag tag);
  WaitTime WaitForEnd(Message& message);
  void KeepUntilEnded(std::shared_ptr<Message> message);
  void KeepUntilEnded(const std::shared_ptr<Held>& held, const TransferText& text);
  void Drop(Message& message) noexcept;

  Transport& inner_;
  NcclLibrary& library_;
  NcclLaunches& launches_;
  const NcclLink link_;
  const Device device_;
  Announcement next_;  // buffer of listening_
  Pending listening_;
  std::deque<Announcement> announced_;      // whose turn was not asked for yet, in order
  Messages asked_for_;                      // receives of which the same is true, in order
  std::deque<std::shared_ptr<Held>> held_;  // received, but not requested yet
  Messages on_streams_;                     // waited for by streams alone
  int64_t taken_count_ = 0;                 // messages whose turn was asked for
  bool taken_ = false;                      // any of them since the last Finish
  std::deque<Pending> told_;
};

}  // namespace torus::parallel
