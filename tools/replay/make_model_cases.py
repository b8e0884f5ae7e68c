#!/usr/bin/env python3
"""Writes cases of whole models at full size, for tools/replay: random weights, one step's logits, loss and
gradients, or ten training steps, as the reference computes them in f32.

    pip install torch==2.15.0 torchvision==0.29.2 transformers==5.23.0 safetensors numpy
    ./make_model_cases.py FOLDER [--models vgg13 resnet101 mobilenet_v2 cifar_resnet20 vision_transformer roberta gpt2 llama]
                          [--kinds model train] [--steps 10] [--threads 2] [--small]

With --small it writes models of a few thousand weights instead, those of tests/golden/model_cases:

    ./make_model_cases.py ../../tests/golden/model_cases --small --steps 3

One file is up to 4 GB (resnet101's training: weights and momentum of every step). Models with batch norm restart each step from
the reference's state, since rounding grows about tenfold a step there. The format is described in tools/replay/case.h.
"""
import argparse
import copy
import json
import os
import sys

import torch
from safetensors.torch import save_file

IMAGES = {  # name: (size, batch)
    "vgg13": (64, 4),
    "resnet101": (96, 4),
    "mobilenet_v2": (96, 8),
    "cifar_resnet20": (32, 128),
    "vision_transformer": (224, 2),
}
TOKENS = {  # name: (batch, length)
    "roberta": (4, 64),
    "gpt2": (2, 64),
    "llama": (2, 64),
}
CONFIGS = {
    "vgg13": {"num_classes": 10, "dropout": 0.0},
    "resnet101": {"num_classes": 10},
    "mobilenet_v2": {"num_classes": 10, "dropout": 0.0},
    "cifar_resnet20": {"num_classes": 10},
    "vision_transformer": {"image_size": 224, "patch_size": 16, "num_layers": 12, "num_heads": 6, "hidden_dim": 384,
                           "mlp_dim": 1536, "num_classes": 10},
    "roberta": {
        "max_position_embeddings": 514,
        "type_vocab_size": 1,
        "layer_norm_eps": 1e-5,
        "hidden_dropout_prob": 0.0,
        "attention_probs_dropout_prob": 0.0,
        "num_labels": 2,
    },
    "gpt2": {"resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0},
    "llama": {
        "vocab_size": 32000,
        "hidden_size": 512,
        "intermediate_size": 1536,
        "num_hidden_layers": 8,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "rope_theta": 500000.0,
        "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
                         "original_max_position_embeddings": 64},
        "max_position_embeddings": 512,
    },
}
SMALL = {  # of these, other configurations; the name before a dash is the model's
    "vision_transformer": {"image_size": 16, "patch_size": 8, "num_layers": 2, "num_heads": 2, "hidden_dim": 16, "mlp_dim": 24,
                           "num_classes": 10, "representation_size": 12},
    "llama": {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 4,
              "num_key_value_heads": 2},
    "llama-other": {"vocab_size": 50, "hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 1,
                    "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 6, "attention_bias": True, "mlp_bias": True,
                    "tie_word_embeddings": True, "pad_token_id": 0, "rms_norm_eps": 1e-5,
                    "rope_scaling": {"rope_type": "linear", "factor": 4.0}},
}
OPTIMIZERS = {
    "images": {"name": "sgd", "lr": 0.01, "momentum": 0.9, "weight_decay": 5e-4},
    "tokens": {"name": "adamw", "lr": 1e-4, "betas": [0.9, 0.999], "eps": 1e-8, "weight_decay": 0.01, "clip_grad_norm": 1.0},
}


def model_of(name):
    return name.split("-")[0]


def make_model(name):
    if name == "cifar_resnet20":
        sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench"))
        import compare_training

        return compare_training.cifar_resnet20()
    if name in IMAGES:
        import torchvision

        if name == "vision_transformer":
            model = torchvision.models.VisionTransformer(**CONFIGS[name])
            torch.nn.init.normal_(model.heads.head.weight, std=0.02)  # of zeros nothing would come back to the body
            return model
        return getattr(torchvision.models, name)(**CONFIGS[name])
    import transformers

    if name == "roberta":
        return transformers.RobertaForSequenceClassification(transformers.RobertaConfig(**CONFIGS[name]))
    if model_of(name) == "llama":
        return transformers.LlamaForCausalLM(transformers.LlamaConfig(**copy.deepcopy(CONFIGS[name])))
    return transformers.GPT2LMHeadModel(transformers.GPT2Config(**CONFIGS[name]))


def make_batch(name, model, generator):
    if name in IMAGES:
        size, batch = IMAGES[name]
        return {
            "images": torch.randn(batch, 3, size, size, generator=generator),
            "labels": torch.randint(10, (batch,), generator=generator),
        }
    batch, length = TOKENS[name]
    ids = torch.randint(5, model.config.vocab_size, (batch, length), generator=generator)
    if name in ("gpt2", "llama"):
        return {"input_ids": ids, "labels": ids.clone()}
    mask = torch.ones_like(ids)
    for row in range(1, batch):  # padding of different lengths
        mask[row, length - min(7, length // 4) * row :] = 0
    ids[mask == 0] = model.config.pad_token_id
    if model_of(name) == "llama":
        return {"input_ids": ids, "attention_mask": mask, "labels": torch.where(mask == 1, ids, -100)}
    return {"input_ids": ids, "attention_mask": mask, "labels": torch.randint(2, (batch,), generator=generator)}


def forward(name, model, batch):
    if name in IMAGES:
        logits = model(batch["images"])
        return logits, torch.nn.functional.cross_entropy(logits, batch["labels"])
    out = model(**batch)
    return out.logits, out.loss


def state(model):
    return {k: v.detach().clone().contiguous() for k, v in model.state_dict().items() if not k.endswith("num_batches_tracked")}


def prefixed(prefix, tensors):
    return {prefix + k: v for k, v in tensors.items()}


def write(folder, file, spec, tensors):
    path = os.path.join(folder, file + ".safetensors")
    save_file({k: v.contiguous() for k, v in tensors.items()}, path, {"format": "1", "case": json.dumps(spec)})
    print(f"{path}: {os.path.getsize(path) / 1e6:.0f} MB", flush=True)


def buffers(model):
    return {k: v.clone() for k, v in model.named_buffers() if "running_" in k}


def model_case(folder, name, model, generator):
    batch = make_batch(name, model, generator)
    tensors = prefixed("in.", batch) | prefixed("param.", state(model))
    logits, loss = forward(name, model, batch)
    loss.backward()
    tensors |= {"out.logits": logits.detach(), "out.loss": loss.detach().reshape(1)}
    tensors |= prefixed("grad_param.", {k: p.grad for k, p in model.named_parameters()})
    tensors |= prefixed("after.", buffers(model))
    write(folder, f"model.{name}", {"op": "model", "model": model_of(name), "config": CONFIGS[name], "mode": "train"}, tensors)


def make_optimizer(spec, parameters):
    arguments = {k: v for k, v in spec.items() if k not in ("name", "clip_grad_norm")}
    return {"sgd": torch.optim.SGD, "adamw": torch.optim.AdamW}[spec["name"]](parameters, **arguments)


def clip_gradients(parameters, most):
    """torch.nn.utils.clip_grad_norm_ with the norm in f64: its own sums squares in f32, and of GPT-2's 38 million embeddings
    comes out 0.09 % short."""
    gradients = [p.grad for p in parameters if p.grad is not None]
    norm = torch.stack([g.double().square().sum() for g in gradients]).sum().sqrt()
    for gradient in gradients:
        gradient.mul_(min(1.0, (most / (norm + 1e-6)).item()))


def train_case(folder, name, model, generator, steps):
    spec = OPTIMIZERS["images" if name in IMAGES else "tokens"]
    restart = bool(buffers(model))
    optimizer = make_optimizer(spec, model.parameters())
    batches = [make_batch(name, model, generator) for _ in range(steps)]
    tensors = {f"in.{k}": torch.stack([b[k] for b in batches]) for k in batches[0]}
    if not restart:
        tensors |= prefixed("param.", state(model))
    losses = []
    for i, batch in enumerate(batches):
        if restart:
            tensors |= prefixed(f"state.{i}.param.", state(model))
            for k, p in model.named_parameters():
                if optimizer.state[p]:
                    tensors[f"state.{i}.momentum.{k}"] = optimizer.state[p]["momentum_buffer"].clone()
        optimizer.zero_grad()
        loss = forward(name, model, batch)[1]
        loss.backward()
        if "clip_grad_norm" in spec:
            clip_gradients(list(model.parameters()), spec["clip_grad_norm"])
        optimizer.step()
        losses.append(loss.item())
    tensors["out.losses"] = torch.tensor(losses)
    tensors |= prefixed("final.", state(model))
    case = {"op": "train", "model": model_of(name), "config": CONFIGS[name], "optimizer": spec, "steps": steps, "restart": restart}
    write(folder, f"train.{name}.{spec['name']}", case, tensors)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--models", nargs="+", default=list(CONFIGS))
    parser.add_argument("--kinds", nargs="+", default=["model", "train"])
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--small", action="store_true")
    args = parser.parse_args()
    if args.small:
        CONFIGS.clear()
        CONFIGS.update(SMALL)
        IMAGES["vision_transformer"] = (16, 2)
        TOKENS.update({"llama": (2, 8), "llama-other": (3, 8)})
        args.models = list(SMALL)
    torch.set_num_threads(args.threads)
    os.makedirs(args.folder, exist_ok=True)
    for name in args.models:
        for kind in args.kinds:
            torch.manual_seed(1)
            generator = torch.Generator().manual_seed(2)
            model = make_model(name).train()
            if kind == "model":
                model_case(args.folder, name, model, generator)
            elif name != "llama-other":  # AdamW divides the nearly zero gradient of a key bias by itself
                train_case(args.folder, name, model, generator, args.steps)


main()
