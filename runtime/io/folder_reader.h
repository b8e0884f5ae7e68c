// One commit of a folder (folder.h). All its files are opened at once and stay unchanged, however
// often the folder is replaced meanwhile. Changes nothing on the disk.
#pragma once

#include <map>
#include <string>

#include "runtime/io/file.h"

namespace torus::io {

class FolderReader {
 public:
  // Opens the files directly in `path`, not those in subfolders. Throws BadInput if there is no
  // such folder, and BrokenEnvironment with the reason if the system refuses.
  explicit FolderReader(const std::string& path);

  const std::string& path() const { return path_; }
  bool Has(const std::string& name) const { return files_.contains(name); }
  // Throws BadInput if there is no file of that name.
  const InputFile& File(const std::string& name) const;
  const std::map<std::string, InputFile>& files() const { return files_; }

 private:
  bool TryOpen(const std::string& folder);

  const std::string path_;
  std::map<std::string, InputFile> files_;
};

}  // namespace torus::io
