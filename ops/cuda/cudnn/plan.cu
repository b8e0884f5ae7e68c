#include <fmt/format.h>

#include <array>
#include <optional>
#include <vector>

#include "ops/cuda/cudnn/plan.h"
#include "runtime/tensor.h"

namespace torus::cuda {
namespace {

// cuDNN's proposals for one graph: the Engines of ChooseEngine.
class Proposals {
 public:
  Proposals(std::shared_ptr<const LoweredGraph> graph, const Descriptor& properties,
            const std::function<double(const ExecutionPlan&)>& seconds)
      : graph_(std::move(graph)), properties_(properties), seconds_(seconds) {}

  int64_t Propose(Heuristic heuristic) {
    engines_.clear();
    try {
      Ask(heuristic);
    } catch (const NotSupported&) {  // it proposes nothing
      engines_.clear();
    }
    return static_cast<int64_t>(engines_.size());
  }

  EngineNotes Notes(int64_t i) const { return NotesOf(*engines_[static_cast<size_t>(i)]); }

  // Building a plan may fail (when it compiles a kernel, say) although the next one succeeds.
  std::optional<ExecutionPlan> Build(int64_t i) {
    const Descriptor& engine = *engines_[static_cast<size_t>(i)];
    Descriptor plan(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR);
    plan.Set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, engine);
    plan.Set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, properties_);
    if (cudnnBackendFinalize(plan.get()) != CUDNN_STATUS_SUCCESS) return std::nullopt;
    std::array<int64_t, 1> workspace{};
    plan.Get(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE, workspace);
    return ExecutionPlan{graph_, engines_[static_cast<size_t>(i)], std::move(plan), workspace[0],
                         Notes(i).compiles};
  }

  std::string Text(int64_t i) const { return TextOf(*engines_[static_cast<size_t>(i)]); }
  double Seconds(const ExecutionPlan& plan) const { return seconds_(plan); }

 private:
  void Ask(Heuristic heuristic) {
    Descriptor ask(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    ask.Set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph_->descriptor());
    ask.Set(CUDNN_ATTR_ENGINEHEUR_MODE,
            heuristic == Heuristic::kBest ? CUDNN_HEUR_MODE_A : CUDNN_HEUR_MODE_FALLBACK);
    ask.Set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, properties_);
    ask.Finalize();
    const int64_t most = ask.GetDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, {});
    std::vector<cudnnBackendDescriptor_t> places;
    for (int64_t i = 0; i < most; ++i)
      places.push_back(
          engines_
              .emplace_back(std::make_shared<const Descriptor>(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR))
              ->get());
    // Leaves out engines that turn out not to support the graph.
    const int64_t count = most == 0 ? 0 : ask.GetDescriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, places);
    while (std::ssize(engines_) > count) engines_.pop_back();
  }

  std::shared_ptr<const LoweredGraph> graph_;
  const Descriptor& properties_;
  const std::function<double(const ExecutionPlan&)>& seconds_;
  std::vector<std::shared_ptr<const Descriptor>> engines_;  // of the list last asked for
};

// The engine of a configuration, which stays the configuration's.
Descriptor EngineOf(const Descriptor& configuration) {
  Descriptor engine(CUDNN_BACKEND_ENGINE_DESCRIPTOR);
  std::array place{engine.get()};
  configuration.GetDescriptors(CUDNN_ATTR_ENGINECFG_ENGINE, place);
  return engine;
}

}  // namespace

EngineNotes NotesOf(const Descriptor& configuration) {
  const Descriptor engine = EngineOf(configuration);
  std::array<cudnnBackendNumericalNote_t, CUDNN_NUMERICAL_NOTE_TYPE_COUNT> notes;
  const int64_t count = engine.Get(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE, notes);
  EngineNotes out;
  for (const cudnnBackendNumericalNote_t note :
       std::span(notes).first(static_cast<size_t>(count))) {
    out.tensor_cores |= note == CUDNN_NUMERICAL_NOTE_TENSOR_CORE;
    out.narrows_inputs |= note == CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS;
    out.narrow_sums |= note == CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION;
    out.nondeterministic |= note == CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC;
    out.transforms |=
        note == CUDNN_NUMERICAL_NOTE_FFT ||
        (note >= CUDNN_NUMERICAL_NOTE_WINOGRAD && note <= CUDNN_NUMERICAL_NOTE_WINOGRAD_TILE_13x13);
  }
  std::array<cudnnBackendBehaviorNote_t, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT> behaviours;
  const int64_t behaves = engine.Get(CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, behaviours);
  for (const cudnnBackendBehaviorNote_t note :
       std::span(behaviours).first(static_cast<size_t>(behaves)))
    out.compiles |= note == CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION;
  return out;
}

std::string TextOf(const Descriptor& configuration) {
  std::array<int64_t, 1> number{};
  EngineOf(configuration).Get(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, number);
  std::string text = fmt::format("engine {}", number[0]);
  std::vector<Descriptor> knobs;
  std::vector<cudnnBackendDescriptor_t> places;
  for (int i = 0; i < CUDNN_KNOB_TYPE_COUNTS; ++i)
    places.push_back(knobs.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR).get());
  const int64_t count = configuration.GetDescriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, places);
  for (const Descriptor& knob : std::span(knobs).first(static_cast<size_t>(count))) {
    std::array<cudnnBackendKnobType_t, 1> type{};
    std::array<int64_t, 1> value{};
    knob.Get(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, type);
    knob.Get(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value);
    text += fmt::format(" {}={}", static_cast<int>(type[0]), value[0]);
  }
  return text;
}

Descriptor PropertiesOf(Device device) {
  Descriptor d(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  d.Set(CUDNN_ATTR_DEVICEPROP_DEVICE_ID, static_cast<int32_t>(device.index));
  d.Finalize();
  return d;
}

Descriptor PropertiesFrom(std::string_view json) {
  Descriptor d(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  d.Set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, std::span<const char>(json));
  d.Finalize();
  return d;
}

std::shared_ptr<const ExecutionPlan> FindPlan(const Graph& graph, const EngineRules& rules,
                                              const Descriptor& properties,
                                              const PlanSearch& search) try {
  Proposals proposals(std::make_shared<const LoweredGraph>(graph), properties, search.seconds);
  std::optional<ExecutionPlan> plan = ChooseEngine(proposals, rules, search.question);
  if (!plan.has_value()) return nullptr;
  return std::make_shared<const ExecutionPlan>(std::move(*plan));
} catch (const NotSupported&) {
  return nullptr;
}

void RunPlan(const ExecutionPlan& plan, const Graph& graph, GraphAddresses addresses,
             cudnnHandle_t handle, Device device) {
  std::vector<int64_t> ids;
  std::vector<const void*> places;
  for (size_t i = 0; i < addresses.size(); ++i) {
    if (graph.tensors[i].place == GraphPlace::kVirtual) continue;
    ids.push_back(UniqueId(i));
    places.push_back(addresses[i]);
  }
  // Freed in the order of the stream, like any tensor.
  Tensor workspace({plan.workspace}, DType::kU8, device);
  const std::array<const void*, 1> room{plan.workspace > 0 ? workspace.mutable_raw() : nullptr};
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.Set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const int64_t>(ids));
  pack.SetPointers(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, places);
  pack.SetPointers(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, room);
  pack.Finalize();
  CheckCudnn(cudnnBackendExecute(handle, plan.plan.get(), pack.get()), "cudnnBackendExecute");
}

}  // namespace torus::cuda
