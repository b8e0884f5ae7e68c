#include "parallel/transport/nccl/nccl_transport.h"

#include <fmt/format.h>

#include <utility>

#include "parallel/transport/nccl/announcement.h"
#include "parallel/transport/nccl/nccl_wait.h"

namespace torus::parallel {

NcclTransport::NcclTransport(Transport& inner, NcclLibrary& library, NcclOptions options)
    : DecoratedTransport(inner),
      inner_(inner),
      library_(library),
      options_(options),
      senders_(inner.size()),
      receivers_(inner.size()),
      watchdog_(inner) {
  Connect();
}

NcclTransport::~NcclTransport() = default;

// Sends are finished first, so that no two ranks wait for each other.
void NcclTransport::Finish() {
  for (const auto& sender : senders_)
    if (sender) sender->Finish();
  for (const auto& receiver : receivers_)
    if (receiver) receiver->Finish();
  for (const auto& [members, engine] : engines_) engine->Finish();
  for (const auto& sender : senders_)
    if (sender) sender->WaitForReceiver();
  for (const auto& receiver : receivers_)
    if (receiver) receiver->WaitUntilTold();
  inner_.ThrowIfAborted();  // what was aborted has ended too
}

// The sender of a link creates the communicator's id. The two ranks exchange messages first, which
// tell which rank does not come.
std::unique_ptr<NcclComm> NcclTransport::Join(int peer, bool sends) {
  const std::string what = fmt::format("link from rank {} to rank {} by NCCL",
                                       sends ? rank() : peer, sends ? peer : rank());
  const NcclId mine = sends ? library_.NewId() : NcclId{};
  NcclId theirs{};
  Pending told = inner_.Send(peer, kNcclIdTag, {&mine, sizeof mine}, what);
  inner_.Recv(peer, kNcclIdTag, {&theirs, sizeof theirs}, what).Wait();
  told.Wait();
  return library_.Join(sends ? mine : theirs, 2, sends ? 0 : 1, options_.device, NcclUse::kMessages,
                       PatienceOf(inner_, options_.timeout,
                                  fmt::format("waiting for rank {} on the {}", peer, what)));
}

// All ranks join their links in the same order, since joining waits for the other end.
void NcclTransport::Connect() {
  for (int from = 0; from < size(); ++from)
    for (int to = 0; to < size(); ++to) {
      if (from == to) continue;
      if (from == rank()) {
        senders_[to] = std::make_unique<NcclSender>(inner_, Join(to, true), to, options_.timeout);
        watchdog_.Watch(senders_[to]->comm());
      }
      if (to == rank()) {
        receivers_[from] = std::make_unique<NcclReceiver>(inner_, library_, Join(from, false), from,
                                                          options_.device, options_.timeout);
        watchdog_.Watch(receivers_[from]->comm());
      }
    }
}

bool NcclTransport::MovesByNccl(int peer, Tag tag, Device device, size_t bytes) const {
  return device == options_.device && tag.kind != TagClass::kControl && bytes > 0 && peer >= 0 &&
         peer < size() && peer != rank();
}

Pending NcclTransport::Send(int peer, Tag tag, ConstBuffer buffer, std::string what) {
  if (!MovesByNccl(peer, tag, buffer.device, buffer.bytes))
    return inner_.Send(peer, tag, buffer, std::move(what));
  return senders_[peer]->Send(tag, buffer, std::move(what));
}

Pending NcclTransport::Recv(int peer, Tag tag, Buffer buffer, std::string what) {
  if (!MovesByNccl(peer, tag, buffer.device, buffer.bytes))
    return inner_.Recv(peer, tag, buffer, std::move(what));
  return receivers_[peer]->Recv(tag, buffer, std::move(what));
}

uint64_t NcclTransport::BytesSent(int peer, TagClass kind) const {
  const uint64_t of_host = inner_.BytesSent(peer, kind);
  return peer == rank() ? of_host : of_host + senders_[peer]->bytes_arrived(kind);
}

Engine* NcclTransport::EngineOf(const std::vector<int>& members) {
  std::unique_ptr<NcclEngine>& engine = engines_[members];
  if (!engine) {
    engine =
        std::make_unique<NcclEngine>(inner_, library_, members, options_.device, options_.timeout);
    watchdog_.Watch(engine->comm());
  }
  return engine.get();
}

SharedBuffers* NcclTransport::SharedBuffersOf(const std::vector<int>& members) {
  return inner_.SharedBuffersOf(members);
}

}  // namespace torus::parallel
