// RunStore: the results of a study's runs, a file each, so that a study that was ended at any
// moment goes on where it was.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/io/file_lock.h"

namespace torus::study {

struct PlannedRun {
  std::string name;  // what tables call it; those of equal names differ in their seeds
  uint64_t seed = 1;
  nlohmann::json settings;  // all else that the result follows from, as an object
};

// NAME-SEED-HASH, the hash that of name and settings: of files and folders of the run's own. At
// most 60 letters, digits, dots and dashes of the name.
std::string FileNameOf(const PlannedRun& run);

class RunStore {
 public:
  // Makes `folder` where it is missing, and holds its lock: BadInput where another process is at
  // work in it.
  explicit RunStore(std::string folder);

  // What `run` came to. None where it has not ended yet, where its settings were others, and where
  // its file is damaged (damage() then says how): it is to be run anew.
  std::optional<nlohmann::json> Find(const PlannedRun& run);
  // Empty unless the last Find met a damaged file.
  const std::string& damage() const { return damage_; }

  // Commits the result: whoever reads finds all of it or none, also after a loss of power. Gives
  // the result back as Find will: numbers that are not finite are null.
  nlohmann::json Save(const PlannedRun& run, const nlohmann::json& result);

  std::string PathOf(const PlannedRun& run) const;  // FOLDER/FileNameOf.json

 private:
  const std::string folder_;
  const io::FileLock lock_;
  std::string damage_;
};

}  // namespace torus::study
