// write_cases FOLDER: models as files of ONNX, inputs of several sizes, and the logits that Torus
// gives for them in f32, for tests/interop/onnx_check.py:
//
//   FOLDER/resnet18/model.onnx
//   FOLDER/resnet18/0/images.npy   of the graph's input of this name
//   FOLDER/resnet18/0/logits.npy
#include <filesystem>
#include <fstream>

#include "autograd/node.h"
#include "models/gpt2/config.h"
#include "models/model_spec.h"
#include "models/roberta/config.h"
#include "runtime/error.h"
#include "runtime/io/npy.h"
#include "tests/tools/convert/onnx/hashed_inputs.h"
#include "tests/tools/convert/onnx/hashed_model.h"
#include "tools/common/run_main.h"
#include "tools/common/user_path.h"
#include "tools/convert/onnx/families.h"

namespace torus::onnx::testing {
namespace {

struct Case {
  std::string spec;
  nlohmann::json config;
  std::vector<std::vector<Tensor>> inputs;  // of each call
};

Case ImageCase(const std::string& spec, const std::vector<std::vector<int64_t>>& sizes) {
  Case made{spec, ParseModelSpec(spec).Config(10), {}};
  for (const std::vector<int64_t>& size : sizes)
    made.inputs.push_back({HashedImages(size[0], size[1])});
  return made;
}

Gpt2Options SmallGpt2() {
  return {.vocab_size = 1000, .n_positions = 128, .n_embd = 128, .n_layer = 4, .n_head = 4};
}

RobertaOptions SmallRoberta(RobertaHead head) {
  return {.vocab_size = 1000,
          .hidden_size = 128,
          .num_hidden_layers = 4,
          .num_attention_heads = 4,
          .intermediate_size = 512,
          .max_position_embeddings = 130,
          .num_labels = 3,
          .head = head};
}

std::vector<Case> Cases() {
  std::vector<Case> cases{ImageCase("resnet18", {{224, 224}, {160, 128}}),
                          ImageCase("resnet50", {{224, 224}, {97, 128}}),
                          ImageCase("cifar_resnet20", {{32, 32}, {31, 40}}),
                          ImageCase("vgg13", {{224, 224}}),
                          ImageCase("vgg11_bn", {{64, 64}}),
                          ImageCase("mobilenet_v2", {{224, 224}, {160, 128}}),
                          ImageCase("vit_s_16:64", {{64, 64}}),
                          {"gpt2", ToConfig(SmallGpt2()), {}}};
  for (const int64_t length : {1, 17, 128})
    cases.back().inputs.push_back(HashedTexts(length, SmallGpt2().vocab_size));
  for (const RobertaHead head : {RobertaHead::kClassification, RobertaHead::kMaskedLm}) {
    const RobertaOptions o = SmallRoberta(head);
    const bool lm = head == RobertaHead::kMaskedLm;
    cases.push_back({lm ? "roberta-mlm" : "roberta", ToConfig(o), {}});
    for (const int64_t length : {4, 17, 128})
      cases.back().inputs.push_back(HashedTexts(length, o.vocab_size, o.pad_token_id));
  }
  return cases;
}

void WriteCall(const std::string& folder, nn::Sequential& model, const std::vector<Tensor>& inputs,
               const GraphProto& graph) {
  std::filesystem::create_directories(folder);
  const std::vector<Tensor> of_graph = ToGraph(inputs);
  for (int i = 0; i < graph.input_size(); ++i)
    WriteNpy(folder + "/" + graph.input(i).name() + ".npy", of_graph.at(static_cast<size_t>(i)));
  const std::vector<Variable> given(inputs.begin(), inputs.end());
  const NoGrad no_grad;
  WriteNpy(folder + "/logits.npy", model.ForwardAll(given, {.training = false})[0].data());
}

void Write(const std::string& folder, const Case& each) {
  const ModelSpec spec = ParseModelSpec(each.spec);
  const auto model = spec.build(each.config, spec.name, {});
  Source source{.model = spec, .config = each.config, .state = HashedState(*model)};
  if (const Tensor& first = each.inputs[0][0]; first.rank() == 4) source.image_size = first.dim(1);
  const ModelProto proto = ToOnnx(source);
  for (size_t i = 0; i < each.inputs.size(); ++i)
    WriteCall(fmt::format("{}/{}", folder, i), *model, each.inputs[i], proto.graph());
  std::ofstream file(folder + "/model.onnx", std::ios::binary);
  Require(proto.SerializeToOstream(&file), "write_cases", "cannot write to {}", folder);
}

int Main(int argc, char** argv) {
  Require(argc == 2, "write_cases", "takes a folder, got {} arguments", argc - 1);
  for (const Case& each : Cases())
    Write(tools::UserPath(argv[1]) + "/" + each.spec.substr(0, each.spec.find(':')), each);
  return 0;
}

}  // namespace
}  // namespace torus::onnx::testing

int main(int argc, char** argv) {
  return torus::tools::RunMain("write_cases",
                               [&] { return torus::onnx::testing::Main(argc, argv); });
}
