#include "parallel/trainer/state_gather.h"

#include <utility>

#include "parallel/pipeline/tensor_header.h"
#include "parallel/trainer/bytes.h"
#include "runtime/error.h"

namespace torus::parallel {
namespace {

const Tag kTag = ControlTag(ControlMessage::kState);

// Calls fn with every list of a stage's tensors, in one order on all ranks.
template <class Stage, class F>
void ForEachList(Stage& stage, const F& fn) {
  for (auto* list : {&stage.parameters, &stage.buffers, &stage.optimizer, &stage.averages})
    fn(*list);
}

std::string What(int stage, const std::string& name) {
  return fmt::format("state of stage {}, {}", stage, name);
}

// Which stages, and the names, shapes and types of their tensors.
std::vector<std::byte> Contents(const std::map<int, StageTensors>& stages) {
  ByteWriter writer;
  for (const auto& [number, stage] : stages) {
    writer.Put(number);
    ForEachList(stage, [&](const std::vector<NamedTensor>& list) {
      writer.Put<uint64_t>(list.size());
      for (const NamedTensor& tensor : list) {
        writer.PutAll(tensor.name);
        writer.Put(HeaderOf(tensor.value));
      }
    });
  }
  return writer.bytes();
}

void SendAll(Transport& world, const std::map<int, StageTensors>& stages) {
  for (const auto& [number, stage] : stages)
    ForEachList(stage, [&](const std::vector<NamedTensor>& list) {
      for (const NamedTensor& tensor : list) {
        const Tensor value = tensor.value.Contiguous();
        world.Send(0, kTag, {value.raw(), value.bytes()}, What(number, tensor.name)).Wait();
      }
    });
}

StageTensors RecvStage(Transport& world, int rank, int number, ByteReader& contents) {
  StageTensors stage;
  ForEachList(stage, [&](std::vector<NamedTensor>& list) {
    for (auto count = contents.Get<uint64_t>(); count > 0; --count) {
      const auto name = contents.GetAll<std::string>();
      const auto header = contents.Get<TensorHeader>();
      Tensor value = Empty(ShapeOf(header), DTypeOf(header));
      world.Recv(rank, kTag, {value.mutable_raw(), value.bytes()}, What(number, name)).Wait();
      list.push_back({name, std::move(value)});
    }
  });
  return stage;
}

}  // namespace

std::map<int, StageTensors> GatherStages(Transport& world, Control& control,
                                         const std::map<int, StageTensors>& own) {
  const auto contents = control.Gather(Contents(own), "contents of the state");
  if (world.rank() != 0) {
    SendAll(world, own);
    return {};
  }
  std::map<int, StageTensors> all;
  for (const auto& [number, stage] : own) all[number] = Copied(stage);
  for (int rank = 1; rank < world.size(); ++rank)
    for (ByteReader reader(contents[rank]); !reader.at_end();) {
      const int number = reader.Get<int>();
      all[number] = RecvStage(world, rank, number, reader);
    }
  return all;
}

}  // namespace torus::parallel
