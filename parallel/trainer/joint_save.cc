#include "parallel/trainer/joint_save.h"

#include <optional>

#include "parallel/trainer/bytes.h"
#include "parallel/trainer/checkpoint.h"
#include "parallel/trainer/joint_work.h"
#include "runtime/io/folder.h"
#include "runtime/io/folder_place.h"

namespace torus::parallel {
namespace {

std::vector<std::byte> ToBytes(const CheckpointFiles& files) {
  ByteWriter writer;
  for (const auto& [name, file] : files) {
    writer.PutAll(name);
    writer.PutAll(file.holds);
    writer.Put(file.bytes);
    writer.Put(file.crc32c.value());
    writer.Put<uint64_t>(file.tensors.size());
    for (const std::string& tensor : file.tensors) writer.PutAll(tensor);
  }
  return writer.bytes();
}

void AddFiles(std::span<const std::byte> bytes, CheckpointFiles& files) {
  for (ByteReader reader(bytes); !reader.at_end();) {
    const auto name = reader.GetAll<std::string>();
    io::CheckpointFile& file = files[name];
    file.holds = reader.GetAll<std::string>();
    file.bytes = reader.Get<uint64_t>();
    file.crc32c = reader.Get<uint32_t>();
    for (auto count = reader.Get<uint64_t>(); count > 0; --count)
      file.tensors.push_back(reader.GetAll<std::string>());
  }
}

// The name of rank 0's new folder (FolderWriter::name), on all ranks.
std::string NameOfAll(Communicator& world, const std::optional<io::FolderWriter>& writer) {
  ByteWriter mine;
  if (writer) mine.PutAll(writer->name());
  const auto all = world.ShareBytes(mine.bytes(), "name of a checkpoint's new folder");
  return ByteReader(all.front()).GetAll<std::string>();
}

}  // namespace

std::exception_ptr SaveTogether(Communicator& world, const std::string& folder, int64_t step,
                                const LossScaleState& scale, const std::map<int, StageTensors>& own,
                                const std::map<std::string, std::string>& texts) {
  std::map<int, TrainState> parts;
  for (const auto& [number, stage] : own) parts[number] = Join(step, {{number, stage}});
  std::optional<io::FolderWriter> writer;  // of rank 0
  const auto begin = [&] {
    for (const auto& [number, part] : parts) RequireFinite(folder, part);
    if (world.rank() == 0) writer.emplace(folder);
  };
  if (auto failure = DoTogether(world, "who can begin a checkpoint", begin)) return failure;
  const std::string name = NameOfAll(world, writer);
  CheckpointFiles files;
  const auto write = [&] {
    for (const auto& [number, part] : parts)
      files.merge(WritePart(io::PlaceOf(folder).fresh(name), number, part));
  };
  if (auto failure = DoTogether(world, "who has written a checkpoint", write)) return failure;
  CheckpointFiles all;
  for (const auto& bytes : world.Gather(ToBytes(files), "files of a checkpoint"))
    AddFiles(bytes, all);
  return DoTogether(world, "whether a checkpoint is committed", [&] {
    if (writer) CommitCheckpoint(*writer, folder, step, scale, all, texts);
  });
}

}  // namespace torus::parallel
