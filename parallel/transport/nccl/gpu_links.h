// How GPU memory is sent between ranks: by NCCL where it can, otherwise by the underlying
// transport, which copies directly within one process and through CPU memory between two.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

enum class GpuLinks : uint8_t { kAuto, kNccl, kCopy };

// Names ("auto", ...), each with a short description.
std::vector<std::pair<std::string, std::string>> GpuLinksDescriptions();
std::vector<std::string> GpuLinksNames();
// Throws BadInput, with the list of names, if the name is unknown.
GpuLinks GpuLinksByName(std::string_view name);

struct GpuLinksChoice {
  bool nccl = false;
  std::string why;  // one line for people to read, with the number of ranks and GPUs
};

// Decides what `asked` means for this run. All ranks call it together and get the same answer. NCCL
// needs a GPU of its own for each rank. `gpu` is this rank's GPU; `has_nccl` says whether this
// process can call NCCL. Throws BadInput on all ranks, with the reason, if kNccl is asked for and
// impossible.
GpuLinksChoice ChooseGpuLinks(Transport& transport, Device gpu, GpuLinks asked, bool has_nccl);

}  // namespace torus::parallel
