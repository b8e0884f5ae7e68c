#include "recipes/run/run_processes.h"

#include <span>
#include <utility>

#include "parallel/collectives/communicator.h"
#include "runtime/error.h"
#include "runtime/long_work.h"

namespace torus::recipes {
namespace {

using parallel::Transport;

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
    mine = parallel::Communicator(transport).BroadcastText(std::move(mine), what);
    if (transport.rank() == world_->local().front()) text = mine;
  });
  return text;
}

std::vector<std::string> RunProcesses::Gather(const std::string& text,
                                              const std::string& what) const {
  if (world_ == nullptr) return {text};
  std::vector<std::string> all;
  world_->Run([&](Transport& transport) {
    const auto bytes = std::as_bytes(std::span(text));
    for (const auto& one : parallel::Communicator(transport).Gather(bytes, what))
      all.emplace_back(reinterpret_cast<const char*>(one.data()), one.size());
  });
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
