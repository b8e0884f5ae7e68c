#include "recipes/run/run_processes.h"

#include <cstdint>
#include <span>

#include "parallel/collectives/broadcast.h"
#include "runtime/error.h"
#include "runtime/long_work.h"

namespace torus::recipes {
namespace {

using parallel::Transport;

// The largest number of its class, which no message of the trainer uses.
constexpr parallel::Tag kText{parallel::TagClass::kControl, (1 << 24) - 1};

std::span<std::byte> BytesOf(std::string& text) {
  return std::as_writable_bytes(std::span(text.data(), text.size()));
}

void BroadcastText(Transport& transport, std::string& text, const std::string& what) {
  uint64_t size = text.size();
  parallel::Broadcast(transport, std::as_writable_bytes(std::span(&size, 1)), 0, what);
  text.resize(size);
  parallel::Broadcast(transport, BytesOf(text), 0, what);
}

void SendText(Transport& transport, const std::string& text, const std::string& what) {
  const uint64_t size = text.size();
  transport.Send(0, kText, {&size, sizeof size}, what).Wait();
  transport.Send(0, kText, {text.data(), text.size()}, what).Wait();
}

std::string RecvText(Transport& transport, int rank, const std::string& what) {
  uint64_t size = 0;
  transport.Recv(rank, kText, {&size, sizeof size}, what).Wait();
  std::string text(size, '\0');
  transport.Recv(rank, kText, {text.data(), text.size()}, what).Wait();
  return text;
}

bool IsAborted(const Transport& transport) {
  try {
    transport.ThrowIfAborted();
  } catch (const BrokenEnvironment&) {
    return true;
  }
  return false;
}

}  // namespace

std::vector<parallel::RankPlace> RunProcesses::LocalPlaces(
    const parallel::WorldLayout& layout) const {
  if (world_ == nullptr) return layout.places();
  std::vector<parallel::RankPlace> places;
  for (const int rank : world_->local()) places.push_back(layout.place(rank));
  return places;
}

void RunProcesses::Finish(const std::function<void()>& work) const {
  const auto held = world_ == nullptr ? nullptr : world_->HoldOffTheEnd();
  Alive(work);
}

void RunProcesses::Lead(const std::function<void()>& work) const {
  if (!leads()) return;
  if (world_ == nullptr) return work();
  world_->Run([&](Transport& transport) {
    if (transport.rank() != 0) return;
    const LongWork alive;
    work();
  });
}

std::string RunProcesses::OfLeader(const std::function<std::string()>& make,
                                   const std::string& what) const {
  if (world_ == nullptr) return make();
  std::string text;
  world_->Run([&](Transport& transport) {
    std::string mine;
    if (transport.rank() == 0) {
      const LongWork alive;
      mine = make();
    }
    BroadcastText(transport, mine, what);
    if (transport.rank() == world_->local().front()) text = mine;
  });
  return text;
}

std::vector<std::string> RunProcesses::Gather(const std::string& text,
                                              const std::string& what) const {
  std::vector<std::string> all{text};
  if (world_ == nullptr) return all;
  world_->Run([&](Transport& transport) {
    if (transport.rank() != 0) return SendText(transport, text, what);
    for (int rank = 1; rank < transport.size(); ++rank)
      all.push_back(RecvText(transport, rank, what));
  });
  if (!leads()) all.clear();
  return all;
}

void RunProcesses::Fail(const std::exception_ptr& failure) const {
  if (world_ == nullptr) return;
  try {
    world_->Run([&](Transport& transport) {
      if (!IsAborted(transport)) std::rethrow_exception(failure);  // else they know
    });
  } catch (...) {
  }
}

}  // namespace torus::recipes
