// Checksums of files, and the list of them that a folder carries.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "runtime/io/file.h"

namespace torus::io {

struct FileSum {
  uint64_t bytes = 0;   // of the whole file
  uint32_t crc32c = 0;  // crc32c.h

  friend bool operator==(const FileSum&, const FileSum&) = default;
};

// {"bytes": 1234, "crc32c": "1a2b3c4d"}
nlohmann::json ToJson(const FileSum& sum);
// Throws BadInput tagged `where` for any other form.
FileSum FileSumFrom(const nlohmann::json& json, const std::string& where);

// Reads the file; of a safetensors file with checksums of its own (safetensors_sums.h) only the
// header, since whoever reads a tensor checks that.
FileSum SumOf(const InputFile& file);
FileSum SumOf(std::string_view text);
// Throws BadInput tagged with the file unless it has this checksum; `list` is what says so.
void RequireSum(const InputFile& file, const FileSum& listed, const std::string& list);

inline constexpr char kFolderSums[] = "torus_checksums.json";
// Lists the files directly in `folder` in a new file of this name:
//   {"version": 1, "files": {"config.json": {"bytes": 1234, "crc32c": "1a2b3c4d"}, ...}}
void WriteFolderSums(const std::string& folder);
// Throws BadInput, naming the file, unless all files on the list are as they were when it was
// written. A folder without list passes: other programs write none.
void CheckFolderSums(const std::string& folder);

}  // namespace torus::io
