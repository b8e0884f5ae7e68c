#include "runtime/io/file_sum.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "runtime/crc32c.h"
#include "runtime/error.h"
#include "runtime/io/folder_names.h"
#include "runtime/io/json.h"
#include "runtime/io/safetensors.h"

namespace torus::io {
namespace {

using Json = nlohmann::json;

uint32_t SumOfBytes(const InputFile& file) {
  constexpr uint64_t kSlice = 1 << 20;
  std::vector<std::byte> slice(std::min(kSlice, file.size()));
  uint32_t sum = 0;
  for (uint64_t at = 0; at < file.size(); at += kSlice) {
    const std::span<std::byte> next(slice.data(), std::min(kSlice, file.size() - at));
    file.ReadAt(at, next.data(), next.size());
    sum = Crc32c(next, sum);
  }
  return sum;
}

}  // namespace

Json ToJson(const FileSum& sum) {
  return {{"bytes", sum.bytes}, {"crc32c", fmt::format("{:08x}", sum.crc32c)}};
}

FileSum FileSumFrom(const Json& json, const std::string& where) {
  const Json &bytes = Member(json, "bytes"), &crc = Member(json, "crc32c");
  FileSum sum;
  bool whole = bytes.is_number_unsigned() && crc.is_string();
  if (whole) {
    const auto& digits = crc.get_ref<const std::string&>();
    const char* const end = digits.data() + digits.size();
    const auto read = std::from_chars(digits.data(), end, sum.crc32c, 16);
    whole = digits.size() == 8 && read.ec == std::errc() && read.ptr == end;
    sum.bytes = bytes.get<uint64_t>();
  }
  Require(whole, where, "a file's checksum must be bytes and a crc32c of 8 digits, got {}",
          Brief(json));
  return sum;
}

FileSum SumOf(const InputFile& file) {
  if (file.path().ends_with(".safetensors"))
    if (const auto sum = SafetensorsReader(file).checksum()) return {file.size(), *sum};
  return {file.size(), SumOfBytes(file)};
}

FileSum SumOf(std::string_view text) { return {text.size(), Crc32c(text)}; }

void RequireSum(const InputFile& file, const FileSum& listed, const std::string& list) {
  Require(file.size() == listed.bytes, file.path(), "must have the {} bytes of {}, got {}",
          listed.bytes, list, file.size());
  const FileSum found = SumOf(file);
  Require(found == listed, file.path(),
          "is damaged: it must have the checksum (CRC-32C) {:08x} of {}, got {:08x}", listed.crc32c,
          list, found.crc32c);
}

void WriteFolderSums(const std::string& folder) {
  Json files = Json::object();
  for (const std::string& name : NamesIn(folder))
    if (std::filesystem::is_regular_file(folder + "/" + name))
      files[name] = ToJson(SumOf(InputFile(folder + "/" + name)));
  OutputFile list(folder + "/" + kFolderSums, IfExists::kRefuse);
  list.Write(Json{{"version", 1}, {"files", files}}.dump(1) + "\n");
  list.Close(true);
}

void CheckFolderSums(const std::string& folder) {
  const std::string path = folder + "/" + kFolderSums;
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return;
  const Json list = ReadJsonObject(path), files = Member(list, "files");
  Require(files.is_object(), path, "must list \"files\", got {}", Brief(files));
  const std::string told =
      fmt::format("{} (remove that file if you changed the folder on purpose)", kFolderSums);
  for (const auto& [name, sum] : files.items()) {
    Require(IsFileName(name), path, "{} is not the name of a file in the folder", Printable(name));
    RequireSum(InputFile(folder + "/" + name), FileSumFrom(sum, path), told);
  }
}

}  // namespace torus::io
