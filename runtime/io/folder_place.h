// Where a folder that is committed whole (folder.h) stands, and where its writer works.
#pragma once

#include <string>

namespace torus::io {

struct FolderPlace {
  std::string path;  // absolute, links followed, no slash at the end
  std::string work;  // .NAME.torus beside it, while a writer is at work or after it was killed

  std::string fresh() const { return work + "/new"; }
  // The commit before, while two renames take the place of a swap.
  std::string old() const { return work + "/old"; }
  std::string lock() const { return work + "/lock"; }
};

// BrokenEnvironment where `path` cannot be resolved.
FolderPlace PlaceOf(const std::string& path);

// Where the last commit of the folder `path` stands now: there, or for the moment between two
// renames, and after a kill in it, in the writer's folder. Empty where there is none.
std::string CommittedFolder(const std::string& path);

}  // namespace torus::io
