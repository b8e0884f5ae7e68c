// Which doors of ops have kernels for GPUs, and which are excused.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace torus::layering {

struct Door {
  std::string name;  // of the function that calls AtDoor
  bool gpu = false;  // whether it has a kernel for GPUs
};

// The calls of AtDoor in a kernels.h, in order.
std::vector<Door> DoorsOf(std::string_view text);

struct Excuse {
  std::string_view family;  // of ops
  std::string_view door;    // "*" for all of the family's
  std::string_view reason;
};

// The doors that have no kernel for GPUs.
const std::vector<Excuse>& DoorsWithoutGpu();

// What is wrong in family `family` with that kernels.h: a door without a kernel for GPUs and
// without excuse, one with both, and an excuse for a door that is not there.
std::vector<std::string> CheckDoors(std::string_view family, std::string_view text);

}  // namespace torus::layering
