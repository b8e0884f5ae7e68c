// NcclWorld: wraps a world; each of its ranks has a GPU whose memory NCCL sends.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "parallel/transport/nccl/nccl_transport.h"
#include "parallel/transport/world.h"

namespace torus::parallel {

// The GPU of a rank: the host's n-th GPU for its n-th rank. Throws BadInput if there are fewer
// GPUs: NCCL does not let two ranks use the same GPU.
Device GpuOfRank(const Transport& transport);

class NcclWorld : public World {
 public:
  // `inner` and `library` must outlive it.
  NcclWorld(World& inner, NcclLibrary& library, double timeout = 60,
            std::function<Device(const Transport&)> device = GpuOfRank)
      : inner_(inner), library_(library), timeout_(timeout), device_(std::move(device)) {}

  int size() const override { return inner_.size(); }
  std::vector<int> local() const override { return inner_.local(); }
  void Run(const std::function<void(Transport&)>& fn) override;
  std::unique_ptr<LongWork> Alive() override { return inner_.Alive(); }

 private:
  NcclTransport& TransportOf(Transport& inner);

  World& inner_;
  NcclLibrary& library_;
  const double timeout_;
  const std::function<Device(const Transport&)> device_;
  std::mutex mutex_;
  std::map<int, std::unique_ptr<NcclTransport>> transports_;  // by rank, made in the first Run
};

}  // namespace torus::parallel
