// The paths of an atomically committed folder (folder.h) and of its writer's working folder.
#pragma once

#include <string>

namespace torus::io {

struct FolderPlace {
  std::string path;  // absolute, links followed, no slash at the end
  std::string work;  // .NAME.torus beside it; exists while a writer works, or after it was killed

  // A new commit's folder. Each has a name of its own (FolderWriter::name), so that no program that
  // has looked one up before, such as a client of a network file system, finds another there.
  std::string fresh(const std::string& name) const { return work + "/" + name; }
  // The previous commit, while two renames replace a swap.
  std::string old() const { return work + "/old"; }
  std::string lock() const { return work + "/lock"; }
};

// Throws BrokenEnvironment if `path` cannot be resolved.
FolderPlace PlaceOf(const std::string& path);

// Where the last commit of the folder `path` is now: at `path`, or, between the two renames and
// after a kill between them, in the writer's folder. Empty if there is none.
std::string CommittedFolder(const std::string& path);

}  // namespace torus::io
