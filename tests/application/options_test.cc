// Whoever designates some members of an option struct gets no warning about the others, of which
// gcc's -Wextra has one where a member has no initializer. It is on and an error for this file: its
// test is that it compiles.
#include <gtest/gtest.h>
#include <torus/recipes.h>

namespace torus {
namespace {

template <class Options>
void Made(const Options&) {}

TEST(Options, MembersThatAreNotNamedGiveNoWarning) {
  Made(AmoebaNetOptions{.layers = {}});
  Made(BackwardOptions{.retain_graph = {}});
  Made(BlobOptions{.strides = {}});
  Made(CifarResNetOptions{.depth = {}});
  Made(Gpt2Options{.vocab_size = {}});
  Made(Gpt3Options{.vocab_size = {}});
  Made(LlamaOptions{.vocab_size = {}});
  Made(MobileNetV2Options{.num_classes = {}});
  Made(RandomKey{.seed = {}});
  Made(ResNetOptions{.depth = {}});
  Made(RobertaOptions{.vocab_size = {}});
  Made(StepContext{.seed = {}});
  Made(VggOptions{.depth = {}});
  Made(VitOptions{.image_size = {}});
  Made(data::Batch{.inputs = {}});
  Made(data::ImageBatchOptions{.augment = {}});
  Made(data::LoaderOptions{.replicas = {}});
  Made(data::MixOptions{.mixup = {}});
  Made(data::SamplerOptions{.size = {}});
  Made(data::SpecialToken{.text = {}});
  Made(nn::AttentionMasks{.is_causal = {}});
  Made(nn::BatchNorm2dOptions{.channels = {}});
  Made(nn::Conv1dOptions{.in = {}});
  Made(nn::Conv2dOptions{.in = {}});
  Made(nn::ConvTranspose2dOptions{.in = {}});
  Made(nn::EmbeddingBagLayerOptions{.num_embeddings = {}});
  Made(nn::EmbeddingOptions{.count = {}});
  Made(nn::GroupNormOptions{.groups = {}});
  Made(nn::InstanceNorm2dOptions{.channels = {}});
  Made(nn::LayerNormOptions{.width = {}});
  Made(nn::LinearOptions{.in = {}});
  Made(nn::MultiheadAttentionOptions{.embed_dim = {}});
  Made(nn::PoolOptions{.stride = {}});
  Made(nn::RecurrentOptions{.input_size = {}});
  Made(nn::RmsNormOptions{.width = {}});
  Made(nn::TransformerLayerOptions{.d_model = {}});
  Made(ops::AttentionOptions{.is_causal = {}});
  Made(ops::AvgPool2dOptions{.ceil_mode = {}});
  Made(ops::BinaryCrossEntropyOptions{.weight = {}});
  Made(ops::Conv1dOptions{.stride = {}});
  Made(ops::Conv2dOptions{.groups = {}});
  Made(ops::ConvTranspose1dOptions{.stride = {}});
  Made(ops::ConvTranspose2dOptions{.groups = {}});
  Made(ops::CtcLossOptions{.blank = {}});
  Made(ops::EmbeddingBagOptions{.max_norm = {}});
  Made(ops::GaussianNllOptions{.full = {}});
  Made(ops::InterpolateOptions{.scale_factor = {}});
  Made(ops::LinearCrossEntropyOptions{.ignore_index = {}});
  Made(ops::MaxPool2dOptions{.ceil_mode = {}});
  Made(ops::NewtonSchulzOptions{.steps = {}});
  Made(ops::NllLossOptions{.ignore_index = {}});
  Made(ops::RotaryOptions{.first = {}});
  Made(ops::TripletMarginOptions{.margin = {}});
  Made(parallel::AdagradOptions{.lr_scale = {}});
  Made(parallel::AdamOptions{.lr_scale = {}});
  Made(parallel::Block{.name = {}});
  Made(parallel::LionOptions{.lr_scale = {}});
  Made(parallel::MicroBatch{.inputs = {}});
  Made(parallel::MiniBatch{.seed = {}});
  Made(parallel::MuonOptions{.lr_scale = {}});
  Made(parallel::NamePattern{.pattern = {}});
  Made(parallel::PlateauOptions{.maximize = {}});
  Made(parallel::RmspropOptions{.lr_scale = {}});
  Made(parallel::ScheduleFreeOptions{.lr_scale = {}});
  Made(parallel::SgdOptions{.lr_scale = {}});
  Made(parallel::TrainHooks{.stop = {}});
  Made(parallel::TrainerOptions{.stages = {}});
  Made(parallel::TrainingParts{.largest_inputs = {}});
  Made(recipes::ConvertOptions{.input = {}});
  Made(recipes::EvaluateOptions{.model = {}});
  Made(recipes::GenerateOptions{.model = {}});
  Made(recipes::RunCallbacks{.on_start = {}});
  Made(recipes::RunOptions{.out = {}});
  Made(recipes::SamplingOptions{.temperature = {}});
  Made(recipes::Settings{.model = {}});
}

}  // namespace
}  // namespace torus
