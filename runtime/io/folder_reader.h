// One commit of a folder (folder.h), opened whole: all its files stay as they are however often the
// folder is replaced meanwhile. Changes nothing on the disk.
#pragma once

#include <map>
#include <string>

#include "runtime/io/file.h"

namespace torus::io {

class FolderReader {
 public:
  // Opens the files of `path` itself, not those of folders in it. BadInput where there is no such
  // folder, BrokenEnvironment with the reason where the system refuses.
  explicit FolderReader(const std::string& path);

  const std::string& path() const { return path_; }
  bool Has(const std::string& name) const { return files_.contains(name); }
  // BadInput where there is none of that name.
  const InputFile& File(const std::string& name) const;
  const std::map<std::string, InputFile>& files() const { return files_; }

 private:
  bool TryOpen(const std::string& folder);

  const std::string path_;
  std::map<std::string, InputFile> files_;
};

}  // namespace torus::io
