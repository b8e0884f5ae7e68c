#include "parallel/transport/nccl/nccl_transport.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "parallel/transport/members.h"
#include "parallel/transport/nccl/announcement.h"
#include "runtime/error.h"
#include "runtime/progress.h"

namespace torus::parallel {
namespace {

// Gives up when the run has been aborted or `timeout` seconds have passed; the latter also aborts
// the run. All members have met before, so their joining must end.
Patience PatienceOf(Transport& transport, double timeout, std::string waiting) {
  return [&transport, timeout, waiting = std::move(waiting)](double waited) {
    transport.ThrowIfAborted();
    TickProgress();
    if (waited <= timeout) return;
    const std::string text = fmt::format("[transport] rank {} gave up after {:.2f} s {}",
                                         transport.world_rank(), waited, waiting);
    transport.Abort(text);
    throw BrokenEnvironment(text);
  };
}

bool IsMember(const std::vector<int>& members, int rank) {
  return std::ranges::find(members, rank) != members.end();
}

}  // namespace

NcclTransport::Link::Link(Transport& inner, NcclLibrary& library, NcclLaunches& launches,
                          const NcclLink& link, Device device)
    : sender(inner, launches, link), receiver(inner, library, launches, link, device) {}

NcclTransport::NcclTransport(Transport& inner, NcclLibrary& library, NcclOptions options)
    : DecoratedTransport(inner),
      inner_(inner),
      library_(library),
      options_(options),
      launches_(inner, library, options.device, options.timeout) {
  library_.Configure({.connects_at_once = true, .starts_in_order = true});
  watchdog_.emplace(launches_, options.timeout);
}

// Nothing may arrive in memory that is freed now.
NcclTransport::~NcclTransport() {
  watchdog_.reset();
  launches_.End();
}

// Sends are finished first, so that no two ranks wait for each other.
void NcclTransport::Finish() {
  for (auto& [peer, link] : links_) link->sender.Finish();
  for (auto& [peer, link] : links_) link->receiver.Finish();
  for (const auto& [members, engine] : engines_) engine->Finish();
  for (auto& [peer, link] : links_) link->sender.WaitForReceiver();
  for (auto& [peer, link] : links_) link->receiver.WaitUntilTold();
  launches_.Finish();
  inner_.ThrowIfAborted();  // what was aborted has ended too
}

// Pairs before groups, each with its lower rank first, and none that there is already.
std::vector<NcclTransport::Communicator> NcclTransport::NewOf(const Topology& topology) {
  std::set<std::vector<int>> pairs;
  for (const auto& [a, b] : topology.pairs)
    if (a != b) pairs.insert({std::min(a, b), std::max(a, b)});
  std::vector<Communicator> added;
  for (const std::vector<int>& pair : pairs)
    if (pairs_.insert(pair).second) added.push_back({pair, NcclUse::kMessages});
  for (const std::vector<int>& group : topology.groups)
    if (group.size() > 1 && groups_.insert(group).second) added.push_back({group, NcclUse::kSums});
  return added;
}

// The first member of each creates its id. The others receive it by the underlying transport, which
// names a rank that does not come.
std::vector<NcclSeat> NcclTransport::Meet(const std::vector<Communicator>& own) {
  std::vector<NcclSeat> seats;
  for (const auto& [members, use] : own)
    seats.push_back({.size = static_cast<int>(members.size()),
                     .member = static_cast<int>(IndexOfMember(members, rank())),
                     .use = use});
  std::vector<Pending> pending;
  for (size_t i = 0; i < own.size(); ++i) {
    const std::vector<int>& members = own[i].members;
    const std::string what = fmt::format("link of ranks {} by NCCL", fmt::join(members, ", "));
    NcclId& id = seats[i].id;
    if (members.front() != rank()) {
      pending.push_back(inner_.Recv(members.front(), kNcclIdTag, {&id, sizeof id}, what));
      continue;
    }
    id = library_.NewId();
    for (const int member : members)
      if (member != rank())
        pending.push_back(inner_.Send(member, kNcclIdTag, {&id, sizeof id}, what));
  }
  for (Pending& each : pending) each.Wait();
  return seats;
}

void NcclTransport::Connect(const Topology& topology) {
  const std::vector<Communicator> added = NewOf(topology);
  std::vector<Communicator> own;
  std::set<int> peers;
  for (const Communicator& each : added) {
    if (!IsMember(each.members, rank())) continue;
    own.push_back(each);
    peers.insert(each.members.begin(), each.members.end());
  }
  peers.erase(rank());
  std::vector<std::unique_ptr<NcclComm>> comms;
  if (!own.empty())
    comms = library_.Join(
        Meet(own), options_.device,
        PatienceOf(inner_, options_.timeout,
                   fmt::format("waiting for ranks {} to join {} communicators by NCCL",
                               fmt::join(peers, ", "), own.size())));
  auto next = comms.begin();
  for (const Communicator& each : added) {
    const bool here = IsMember(each.members, rank());
    const int number = launches_.Add(each.members, here ? std::move(*next++) : nullptr);
    if (here) Use(each, number);
  }
}

void NcclTransport::Use(const Communicator& joined, int number) {
  const std::vector<int>& members = joined.members;
  if (joined.use == NcclUse::kSums) {
    engines_[members] =
        std::make_unique<NcclEngine>(inner_, launches_, number, members, options_.device);
    return;
  }
  const int peer_member = members[0] == rank() ? 1 : 0, peer = members[peer_member];
  links_[peer] = std::make_unique<Link>(inner_, library_, launches_,
                                        NcclLink{peer, number, peer_member}, options_.device);
}

bool NcclTransport::MovesByNccl(int peer, Tag tag, Device device, size_t bytes) const {
  return device == options_.device && tag.kind != TagClass::kControl && bytes > 0 && peer >= 0 &&
         peer < size() && peer != rank();
}

bool NcclTransport::MovesAmong(const std::vector<int>& members, Device device) const {
  if (device != options_.device) return inner_.MovesAmong(members, device);
  for (const int a : members)
    for (const int b : members)
      if (a < b && !pairs_.contains({a, b})) return false;
  return true;
}

NcclTransport::Link& NcclTransport::LinkWith(int peer, const std::string& what) {
  const auto found = links_.find(peer);
  Require(found != links_.end(), "transport",
          "ranks {} and {} must be connected before a GPU's memory moves between them ({})", rank(),
          peer, what);
  return *found->second;
}

Pending NcclTransport::Send(int peer, Tag tag, ConstBuffer buffer, std::string what) {
  if (!MovesByNccl(peer, tag, buffer.device, buffer.bytes))
    return inner_.Send(peer, tag, buffer, std::move(what));
  return LinkWith(peer, what).sender.Send(tag, buffer, std::move(what));
}

Pending NcclTransport::Recv(int peer, Tag tag, Buffer buffer, std::string what) {
  if (!MovesByNccl(peer, tag, buffer.device, buffer.bytes))
    return inner_.Recv(peer, tag, buffer, std::move(what));
  return LinkWith(peer, what).receiver.Recv(tag, buffer, std::move(what));
}

uint64_t NcclTransport::BytesSent(int peer, TagClass kind) const {
  const uint64_t of_host = inner_.BytesSent(peer, kind);
  const auto link = links_.find(peer);
  return link == links_.end() ? of_host : of_host + link->second->sender.bytes_arrived(kind);
}

uint64_t NcclTransport::BytesComputed(int peer) const {
  uint64_t bytes = inner_.BytesComputed(peer);
  for (const auto& [members, engine] : engines_)
    if (engine->next() == peer) bytes += engine->bytes_computed();
  return bytes;
}

Engine* NcclTransport::EngineOf(const std::vector<int>& members) {
  const auto found = engines_.find(members);
  return found != engines_.end() ? found->second.get() : inner_.EngineOf(members);
}

SharedBuffers* NcclTransport::SharedBuffersOf(const std::vector<int>& members) {
  return inner_.SharedBuffersOf(members);
}

}  // namespace torus::parallel
