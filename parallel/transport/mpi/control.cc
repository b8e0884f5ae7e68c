#include "parallel/transport/mpi/control.h"

#include <cstring>

#include "runtime/error.h"

namespace torus::parallel {
namespace {

struct Head {
  MpiControl::Kind kind;
  Tag tag;
  int32_t channel, peer;
  uint64_t count;
};

}  // namespace

std::vector<char> Pack(const MpiControl& control) {
  const Head head{control.kind, control.tag, control.channel, control.peer, control.count};
  std::vector<char> bytes(sizeof head + control.text.size());
  std::memcpy(bytes.data(), &head, sizeof head);
  std::memcpy(bytes.data() + sizeof head, control.text.data(), control.text.size());
  return bytes;
}

MpiControl Unpack(std::span<const char> bytes) {
  Head head;
  TORUS_CHECK(bytes.size() >= sizeof head, "a control message of {} bytes", bytes.size());
  std::memcpy(&head, bytes.data(), sizeof head);
  return {head.kind, head.tag,   head.channel,
          head.peer, head.count, std::string(bytes.begin() + sizeof head, bytes.end())};
}

}  // namespace torus::parallel
