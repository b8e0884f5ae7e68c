#include "parallel/transport/mpi/mpi_shared_buffers.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include "parallel/transport/members.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

// A rank's memory: the token, the mark in its own cache line, and the buffer on its own pages.
constexpr size_t kMark = 64, kBuffer = 4096;

int64_t& MarkIn(const SharedMemory& memory) {
  return *reinterpret_cast<int64_t*>(memory.bytes().data() + kMark);
}

size_t BytesOfMemory(size_t buffer, size_t members) {
  constexpr size_t kLine = 64;
  return kBuffer + std::max(buffer / kLine, members) * kLine;
}

std::vector<SharedMemory> Reach(const std::vector<SharedMemory::Address>& addresses, size_t bytes,
                                SharedMemory own, size_t own_index) {
  std::vector<SharedMemory> all;
  for (size_t i = 0; i < addresses.size(); ++i)
    all.push_back(i == own_index ? std::move(own) : SharedMemory::Open(addresses[i], bytes));
  return all;
}

}  // namespace

MpiSharedBuffers::MpiSharedBuffers(MpiState& state, Transport& world, std::vector<int> members)
    : state_(state), members_(std::move(members)), own_(IndexOfMember(members_, state.rank)) {
  const size_t bytes = BytesOfMemory(state.options.shared_buffer_bytes, members_.size());
  SharedMemory own = SharedMemory::Make(bytes);
  const auto addresses = ShareAmong(world, members_, own.address(), "place of shared memory");
  memory_ = Reach(addresses, bytes, std::move(own), own_);
  const char reached = std::ranges::none_of(memory_, &SharedMemory::empty);
  // Once a rank has these answers, all others have opened its memory.
  const auto answers = ShareAmong(world, members_, reached, "reach of shared memory");
  usable_ = std::ranges::count(answers, 1) == std::ssize(answers);
}

std::span<std::byte> MpiSharedBuffers::buffer(int member) const {
  return memory_[member].bytes().subspan(kBuffer);
}

int64_t MpiSharedBuffers::mark(int member) const {
  return std::atomic_ref(MarkIn(memory_[member])).load(std::memory_order_acquire);
}

void MpiSharedBuffers::RaiseMark() {
  std::atomic_ref(MarkIn(memory_[own_])).fetch_add(1, std::memory_order_release);
}

Pending MpiSharedBuffers::Await(int member, int64_t mark, Tag tag, size_t bytes, std::string what) {
  TransferText text{false, state_.rank, members_[member], tag, bytes, std::move(what)};
  return Pending(std::make_unique<MpiMark>(state_, std::move(text), *this, member, mark));
}

void MpiSharedBuffers::CountSent(int member, TagClass kind, size_t bytes) {
  const std::lock_guard lock(state_.mutex);
  state_.sent[static_cast<size_t>(members_[member]) * kTagClasses + static_cast<size_t>(kind)] +=
      bytes;
}

}  // namespace torus::parallel
