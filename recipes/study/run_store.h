// RunStore: stores the result of each run of a study in a file, so that a study that was
// interrupted at any moment can continue.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "runtime/io/file_lock.h"

namespace torus::study {

struct PlannedRun {
  std::string name;  // in tables; runs with the same name differ in their seeds
  uint64_t seed = 1;
  nlohmann::json settings;  // all else that the result depends on, as an object
};

// NAME-SEED-HASH, for the run's own files and folders. The hash is that of name and settings. NAME
// has at most 60 characters: the letters, digits, dots and dashes of the run's name.
std::string FileNameOf(const PlannedRun& run);

class RunStore {
 public:
  // Makes `folder` if it is missing, and locks it while this object lives. Throws BadInput if
  // another process has locked it.
  explicit RunStore(std::string folder);

  // The stored result of `run`. None if the run has not ended, if it was stored with other
  // settings, or if its file is damaged (damage() then says how). Then it must be run again.
  std::optional<nlohmann::json> Find(const PlannedRun& run);
  // Empty unless the last Find found a damaged file.
  const std::string& damage() const { return damage_; }

  // Stores the result atomically: a reader finds all of it or nothing, even after a power loss.
  // Returns the result as Find will return it: numbers that are not finite become null.
  nlohmann::json Save(const PlannedRun& run, const nlohmann::json& result);

  std::string PathOf(const PlannedRun& run) const;  // FOLDER/FileNameOf.json

 private:
  const std::string folder_;
  const io::FileLock lock_;
  std::string damage_;
};

}  // namespace torus::study
