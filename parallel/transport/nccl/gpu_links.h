// How the memory of GPUs goes from rank to rank: by NCCL where it can, else as the transport under
// it does, which copies within one process and takes the way through the CPU's memory between two.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "parallel/transport/transport.h"

namespace torus::parallel {

enum class GpuLinks : uint8_t { kAuto, kNccl, kCopy };

// "auto", ...; each with what it is, in a few words.
std::vector<std::pair<std::string, std::string>> GpuLinksDescriptions();
std::vector<std::string> GpuLinksNames();
// BadInput with the list of names for an unknown one.
GpuLinks GpuLinksByName(std::string_view name);

struct GpuLinksChoice {
  bool nccl = false;
  std::string why;  // a line for people, with the GPUs that there are
};

// What `asked` comes to among all ranks, who call it together and come to the same: NCCL needs a
// GPU for each rank that no other has. `gpu`: this rank's; `has_nccl`: whether this process can
// call it. BadInput, on all ranks, where kNccl is asked for and cannot be, with the reason.
GpuLinksChoice ChooseGpuLinks(Transport& transport, Device gpu, GpuLinks asked, bool has_nccl);

}  // namespace torus::parallel
