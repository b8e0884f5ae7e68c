// Settings: all that determines a run. They are stored in its checkpoint, and --resume reads them
// from there.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "autograd/precision.h"
#include "parallel/schedule/factory.h"
#include "recipes/settings/precision.h"

namespace torus {
struct ModelDescriptor;
}

namespace torus::recipes {

// Each member but `models` is a flag of tools/train, which docs/training.md explains
// (ForEachSetting).
struct Settings {
  std::string model = "mobilenet_v2";  // a name of the registry, with options behind a colon
  std::string data = "fashion-mnist";  // a name that tools/train lists under --data
  std::string data_dir = {};           // empty: the dataset's usual place
  // Of text; empty: that of token files, else the model's (TokenizerFor).
  std::string tokenizer = {};
  std::string vocab_dir = {};  // for the tokenizers gpt2, roberta and json
  int64_t image_size = 0;      // side to which images are resized; 0: the dataset's own
  // Folder for decoded training images; empty: files are decoded anew.
  std::string image_cache = {};
  int64_t length = 128;        // tokens per row of text
  bool document_mask = false;  // attention stays within a document of a long text
  // Windows of a long text per epoch; 0: as many disjoint windows as the text has.
  int64_t epoch_size = 0;
  int64_t epochs = 3;         // passes over the training examples
  int64_t batch_size = 256;   // samples, over all replicas
  bool drop_last = false;     // leave out an epoch's last batch if it is smaller
  int64_t micro_batches = 4;  // per replica, in one pass through the pipeline
  int64_t accumulate = 1;     // passes through the pipeline per step, of micro_batches each
  int64_t stages = 1;         // parts into which the model is cut
  int64_t chunks = 1;         // stages per rank; divides `stages`
  std::string cut = {};       // "1,18", "auto", or empty: balanced by static costs
  int64_t replicas = 1;       // copies of the pipeline, each with its part of a batch
  int64_t tensor = 1;         // ranks that share each stage's layers
  std::string tensor_cuts = "shared";  // each sends its share of what crosses a cut; or "whole"
  std::string schedule = "gpipe";    // order of forwards and backwards: parallel/schedule/factory.h
  std::string strategy = "ddp";      // of the replicas, as StrategyNames()
  std::string collectives = "auto";  // of the gradients of replicas, as CollectivesNames()
  int64_t bucket_mb = 25;            // of ddp: MiB of gradients that are all-reduced together
  // The bits depend only on how many micro-batches all replicas have together, not on how many
  // replicas there are.
  bool reproducible = false;
  bool sync_batch_norm = false;     // statistics are over the micro-batches of all replicas
  std::string codec = "none";       // of what crosses a cut; by cut: parallel/codec/codec_choice.h
  std::string codec_backward = {};  // of gradients that cross a cut; empty: as for activations
  std::string codec_gradients = "none";  // of the gradients that replicas sum
  int64_t codec_warmup = 0;              // first steps, in which all is sent uncompressed
  std::string codec_folder = {};         // for files with the state of "delta"; empty: in memory
  std::string optimizer = "sgd";         // as OptimizerNames() lists them
  std::string optimizer_state = "f32";   // of Adam: f32, bf16 or 8bit
  double lr = 0.07;                      // peak learning rate
  double momentum = 0.9;                 // of SGD
  double beta1 = 0.9;                    // of Adam, as beta2
  double beta2 = 0.999;                  // of Adam
  double weight_decay = 4e-5;            // of all but biases and the weights of norms
  double clip_norm = 0;                  // 0: no clipping
  // Share of the training examples that is held out to validate on; 0: none.
  double validation = 0;
  // The part of the data on which best/ is chosen: "validation", if there is one, or "test".
  std::string best = "validation";
  // Evaluations in a row without a better result than the best after which training ends; 0: none.
  int64_t patience = 0;
  bool gradient_norm = false;  // the metrics have the gradient's norm without clipping too
  // Share of each target's probability that the loss of training spreads over all classes.
  double label_smoothing = 0;
  int64_t lora = 0;  // rank of the products by which linear weights change; 0: all is trained
  double ema = 0;    // decay of the weights' moving average; 0: none
  std::string lr_schedule = "cosine";  // as MakeLrSchedule takes it
  int64_t warmup = -1;                 // steps; -1: a tenth of the run, at most 100
  bool nesterov = true;                // of SGD
  std::string augment = "none";        // of training images: a name of AugmentNames()
  // Of the distributions Beta(a, a) of the shares in which training images are mixed; 0: not.
  double mixup = 0, cutmix = 0;
  double random_erasing = 0;       // the probability that a window of a training image is erased
  uint64_t seed = 1;               // of weights, dropout, order and augmentation
  std::string recompute = "none";  // layers to recompute in the backward: a LayerList
  std::string activation_storage = "f32";  // how activations are kept for the backward; or bf16
  std::string precision = "f32";   // of products, convolutions and attention: f32, bf16, f16, tf32
  bool emulate = false;            // emulates bf16 and f16: rounds to them, computes in f32
  std::string device = "cpu";      // or cuda: the ranks of a host take its GPUs in turn
  std::string gpu_links = "auto";  // how ranks send GPU memory, as GpuLinksNames()
  // On GPUs: times what cuBLASLt and cuDNN propose for each product and graph, and keeps what was
  // quickest in the run's folder. On a CPU it changes nothing.
  bool autotune = false;
  // Emulated links between ranks, slower than the real ones (parallel/link/link_table.h has the
  // syntax). They change only times. Empty: none.
  std::vector<std::string> links = {};
  int64_t threads = 0;         // per host, at least one for each rank there; 0: its cores
  std::string init = {};       // weights file the run began with
  std::string init_part = {};  // which of its weights; empty: those that fit best
  // An application's own models, which `model` may then name; null: those of the registry. Not
  // stored.
  const std::vector<ModelDescriptor>* models = nullptr;
};

// Calls visit(flag, member) for each setting. This is the only list of their names.
template <class AnySettings, class Visit>
void ForEachSetting(AnySettings& s, const Visit& visit) {
  visit("--model", s.model);
  visit("--data", s.data);
  visit("--data-dir", s.data_dir);
  visit("--tokenizer", s.tokenizer);
  visit("--vocab-dir", s.vocab_dir);
  visit("--image-size", s.image_size);
  visit("--image-cache", s.image_cache);
  visit("--length", s.length);
  visit("--document-mask", s.document_mask);
  visit("--epoch-size", s.epoch_size);
  visit("--epochs", s.epochs);
  visit("--batch-size", s.batch_size);
  visit("--micro-batches", s.micro_batches);
  visit("--drop-last", s.drop_last);
  visit("--accumulate", s.accumulate);
  visit("--stages", s.stages);
  visit("--chunks", s.chunks);
  visit("--cut", s.cut);
  visit("--replicas", s.replicas);
  visit("--tensor", s.tensor);
  visit("--tensor-cuts", s.tensor_cuts);
  visit("--schedule", s.schedule);
  visit("--strategy", s.strategy);
  visit("--collectives", s.collectives);
  visit("--bucket-mb", s.bucket_mb);
  visit("--reproducible", s.reproducible);
  visit("--sync-batch-norm", s.sync_batch_norm);
  visit("--codec", s.codec);
  visit("--codec-backward", s.codec_backward);
  visit("--codec-gradients", s.codec_gradients);
  visit("--codec-warmup", s.codec_warmup);
  visit("--codec-folder", s.codec_folder);
  visit("--optimizer", s.optimizer);
  visit("--optimizer-state", s.optimizer_state);
  visit("--lr", s.lr);
  visit("--momentum", s.momentum);
  visit("--beta1", s.beta1);
  visit("--beta2", s.beta2);
  visit("--weight-decay", s.weight_decay);
  visit("--clip-norm", s.clip_norm);
  visit("--validation", s.validation);
  visit("--best", s.best);
  visit("--patience", s.patience);
  visit("--gradient-norm", s.gradient_norm);
  visit("--label-smoothing", s.label_smoothing);
  visit("--ema", s.ema);
  visit("--lora", s.lora);
  visit("--lr-schedule", s.lr_schedule);
  visit("--warmup", s.warmup);
  visit("--nesterov", s.nesterov);
  visit("--augment", s.augment);
  visit("--random-erasing", s.random_erasing);
  visit("--mixup", s.mixup);
  visit("--cutmix", s.cutmix);
  visit("--seed", s.seed);
  visit("--recompute", s.recompute);
  visit("--activation-storage", s.activation_storage);
  visit("--precision", s.precision);
  visit("--emulate", s.emulate);
  visit("--device", s.device);
  visit("--gpu-links", s.gpu_links);
  visit("--autotune", s.autotune);
  visit("--link", s.links);
  visit("--threads", s.threads);
  visit("--init", s.init);
  visit("--init-part", s.init_part);
}

// The precision of products, convolutions and attention, from --precision and --emulate.
inline Precision PrecisionOf(const Settings& s) { return PrecisionNamed(s.precision, s.emulate); }

// The size of a replica's pipeline. Throws BadInput if --schedule has none with so many stages.
inline parallel::PipelineSize PipelineOf(const Settings& s) {
  return parallel::SizeOf(s.schedule, s.stages, s.micro_batches, s.chunks);
}

// Ranks of the run.
inline int64_t RanksOf(const Settings& s) { return PipelineOf(s).ranks * s.replicas * s.tensor; }

// Whether evaluations choose the run's best checkpoint.
inline bool ChoosesBest(const Settings& s) { return s.best == "test" || s.validation > 0; }

// Micro-batches of one replica in a mini-batch, over all passes.
inline int64_t PartsOfReplica(const Settings& s) { return s.micro_batches * s.accumulate; }

// Micro-batches of a mini-batch, over all replicas.
inline int64_t PartsOfBatch(const Settings& s) { return s.replicas * PartsOfReplica(s); }

// Samples of the largest micro-batch.
inline int64_t LargestMicroBatch(const Settings& s) {
  return (s.batch_size + PartsOfBatch(s) - 1) / PartsOfBatch(s);
}

}  // namespace torus::recipes
