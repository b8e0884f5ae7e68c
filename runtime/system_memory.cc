#include "runtime/system_memory.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace torus {
namespace {

// The number at the beginning of a file if it exists and is smaller than `most`, else `most`; "max"
// is not a number.
size_t LimitIn(const std::string& file, size_t most) {
  std::ifstream in(file);
  size_t limit = 0;
  return in >> limit ? std::min(limit, most) : most;
}

// A group's limit applies to all groups below it, so `path` and its parents count. In a container,
// the path may be the host's and not exist; the mounted root is then the process's own group.
size_t LimitOfGroups(const std::string& mount, std::string path, const std::string& file,
                     size_t most) {
  for (;;) {
    while (path.ends_with('/')) path.pop_back();
    most = LimitIn(mount + path + "/" + file, most);
    if (path.empty()) return most;
    path.erase(path.rfind('/'));
  }
}

size_t MachineMemory() {
  return static_cast<size_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

// A line is "number:controllers:path"; version 2 has number 0 and no controllers.
size_t SystemMemory(const std::string& root) {
  size_t most = MachineMemory();
  const std::string mount = root + "/sys/fs/cgroup";
  std::ifstream groups(root + "/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    std::istringstream fields(line);
    std::string number, controllers, path;
    std::getline(fields, number, ':');
    std::getline(fields, controllers, ':');
    std::getline(fields, path);
    if (!path.starts_with('/')) continue;
    if (controllers.empty()) most = LimitOfGroups(mount, path, "memory.max", most);
    if (("," + controllers + ",").find(",memory,") != std::string::npos)
      most = LimitOfGroups(mount + "/memory", path, "memory.limit_in_bytes", most);
  }
  return most;
}

}  // namespace torus
