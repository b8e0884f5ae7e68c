#include "recipes/run/gpu_world.h"

#include "parallel/transport/nccl/gpu_links.h"
#include "parallel/transport/nccl/real_nccl.h"
#include "parallel/transport/rank_gpu.h"
#include "runtime/on_device.h"

namespace torus::recipes {
namespace {

// NCCL itself, if this build has it.
std::unique_ptr<parallel::NcclLibrary> OfThisBuild() {
  if constexpr (kHasCuda && !kEmulatedGpu)
    return parallel::RealNccl();
  else
    return nullptr;
}

}  // namespace

GpuWorld::GpuWorld(parallel::World* processes, const Settings& settings,
                   const GpuWorldOptions& options)
    : world_(processes) {
  if (settings.device == "cuda") Choose(settings, options);
}

void GpuWorld::Choose(const Settings& settings, const GpuWorldOptions& options) {
  if (options.nccl == nullptr) library_ = OfThisBuild();
  parallel::NcclLibrary* const library = options.nccl != nullptr ? options.nccl : library_.get();
  if (world_ == nullptr) {
    threads_ = std::make_unique<parallel::ThreadWorld>(
        static_cast<int>(RanksOf(settings)), parallel::InProcessOptions{.timeout = options.timeout},
        parallel::RunRanksOptions{.grace = options.grace});
    world_ = threads_.get();
  }
  const parallel::GpuLinks asked = parallel::GpuLinksByName(settings.gpu_links);
  const auto chosen = std::make_shared<parallel::GpuLinksChoice>();
  const int first = world_->local().front();
  world_->Run([=](parallel::Transport& transport) {
    const parallel::GpuLinksChoice choice = parallel::ChooseGpuLinks(
        transport, parallel::GpuInTurn(transport), asked, library != nullptr);
    if (transport.rank() == first) *chosen = choice;
  });
  line_ = chosen->why;
  if (!chosen->nccl) return;
  nccl_ = std::make_unique<parallel::NcclWorld>(*world_, *library, options.timeout,
                                                parallel::GpuInTurn);
  world_ = nccl_.get();
}

}  // namespace torus::recipes
