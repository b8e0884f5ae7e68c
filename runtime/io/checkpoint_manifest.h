// The contents of a checkpoint: an atomically committed folder (folder.h) of safetensors files,
// each written by the rank that owns its tensors, and checkpoint.json, which lists them:
//
//   {"version": 1, "commit": 3, "step": 600, "files":
//     {"weights-0.safetensors": {"holds": "weights", "bytes": 1234, "crc32c": "1a2b3c4d",
//                                "tensors": ["conv1.weight", ...]},
//      "weights-1.safetensors": ...},
//    "texts": {"settings.json": {"bytes": 1234, "crc32c": "55667788"}, ...}, "crc32c": "99aabbcc"}
//
// with the checksum of each file, and of the manifest itself (of its JSON without that key, without
// white space, keys sorted). The manifests of older versions have none.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/io/file_sum.h"

namespace torus::io {

inline constexpr char kCheckpointManifest[] = "checkpoint.json";
// What a file may hold.
inline constexpr char kWeights[] = "weights", kOptimizer[] = "optimizer", kAverages[] = "averages",
                      kCodecs[] = "codecs", kReplicas[] = "replicas";

struct CheckpointFile {
  std::string holds;
  uint64_t bytes = 0;  // of the whole file
  std::optional<uint32_t> crc32c{};
  std::vector<std::string> tensors;
};

struct CheckpointManifest {
  int64_t step = 0;    // training step; also in each file's metadata, as "step"
  int64_t commit = 0;  // increases by one with each commit of the folder
  // For runs with loss scaling (parallel/trainer/loss_scale.h), stored as "loss_scale" and
  // "good_steps". Otherwise 0 and not stored.
  int64_t loss_scale = 0, good_steps = 0;
  std::map<std::string, CheckpointFile> files;  // by name
  std::map<std::string, FileSum> texts{};       // other files of the checkpoint, by name
};

std::string ToText(const CheckpointManifest& manifest);
// Throws BadInput tagged `path` if the text does not have this form or its checksum, or if it names
// a file outside of the folder.
CheckpointManifest ManifestFrom(const std::string& text, const std::string& path);

}  // namespace torus::io
