#!/usr/bin/env python3
"""Writes models.safetensors: logits, loss and gradients of models as their references compute them, in f64.

Weights and images are no random numbers of a library but a hash of name and index (see value()), which the tests compute
too; so full models fit into a small file. Of each gradient its norm and its product with such a tensor are kept.

    pip install torch==2.15.0 torchvision==0.29.2 transformers==5.23.0 safetensors numpy
    ./make_models.py models.safetensors TORCHGPIPE/benchmarks/models

The second folder is of a clone of github.com/kakaobrain/torchgpipe (v0.0.7): the reference of AmoebaNet-D.
"""
import sys
import zlib

import numpy as np
import torch
import torchvision
from safetensors.torch import save_file


def value(name, count):
    """Numbers in [-0.5, 0.5), exact in f32 on every machine."""
    u = np.arange(count, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(zlib.crc32(name.encode()))
    for _ in range(2):
        u ^= u >> np.uint32(16)
        u *= np.uint32(0x45D9F3B)
    u ^= u >> np.uint32(16)
    return ((u >> np.uint32(8)).astype(np.float64) / 2**24 - 0.5)


def parameter(name, shape):
    count = int(np.prod(shape))
    v = value(name, count)
    if len(shape) == 1:
        v = 1 + 0.4 * v if name.endswith("weight") else 0.4 * v
    else:
        fan_in = count // shape[0]
        v = v * np.sqrt(12 * 1.5 / fan_in)
    return torch.from_numpy(v.astype(np.float32).astype(np.float64)).reshape(shape)


def fill(model):
    for name, p in model.named_parameters():
        p.data = parameter(name, tuple(p.shape))
    return model.double()


def record(out, key, model, logits, labels):
    loss = torch.nn.functional.cross_entropy(logits, labels)
    loss.backward()
    out[f"{key}/logits"] = logits.detach()
    out[f"{key}/loss"] = loss.detach().reshape(1)
    project(out, key, model)


def project(out, key, model):
    for name, p in model.named_parameters():
        g = p.grad.reshape(-1)
        r = torch.from_numpy(value("project " + name, g.numel()))
        out[f"{key}/grad/{name}"] = torch.stack([g.norm(), (g * r).sum()])


def images(out, key, model, size, batch, classes):
    model = fill(model)
    model.train()
    for m in model.modules():
        if isinstance(m, torch.nn.Dropout):
            m.p = 0.0
    x = torch.from_numpy(value(key, batch * 3 * size * size) * np.sqrt(12)).float().double().reshape(batch, 3, size, size)
    labels = torch.arange(batch) % classes
    record(out, key, model, model(x), labels)


def narrow(vgg):
    """16 features in the classifier for 4096: it is nine tenths of the model and holds nothing new."""
    vgg.classifier[0] = torch.nn.Linear(25088, 16)
    vgg.classifier[3] = torch.nn.Linear(16, 16)
    vgg.classifier[6] = torch.nn.Linear(16, 10)
    return vgg


def token_model(out, key, model, length, mask_behind, labels):
    """labels(ids) gives those of transformers' loss."""
    model = fill(model).train()
    ids = (value(key, 3 * length) * 50 + 30).astype(np.int64).reshape(3, length)  # 5 ... 54
    ids = torch.from_numpy(ids)
    inputs = {"input_ids": ids}
    if mask_behind:
        mask = torch.ones_like(ids)
        for row in range(3):
            mask[row, length - mask_behind * row :] = 0
        ids[mask == 0] = 1
        inputs["attention_mask"] = mask
    answer = model(**inputs, labels=labels(ids))
    answer.loss.backward()
    out[f"{key}/logits"] = answer.logits.detach()
    out[f"{key}/loss"] = answer.loss.detach().reshape(1)
    project(out, key, model)


def transformer_models(out):
    import transformers

    roberta = transformers.RobertaConfig(
        vocab_size=60, hidden_size=24, num_hidden_layers=2, num_attention_heads=3, intermediate_size=40,
        max_position_embeddings=20, type_vocab_size=2, num_labels=3, hidden_dropout_prob=0, attention_probs_dropout_prob=0)
    token_model(out, "roberta", transformers.RobertaForSequenceClassification(roberta), 16, 4, lambda ids: torch.arange(3))
    token_model(out, "roberta_mlm", transformers.RobertaForMaskedLM(roberta), 16, 4,
                lambda ids: torch.where(ids % 3 == 0, ids, torch.full_like(ids, -100)))
    gpt2 = dict(vocab_size=60, n_positions=20, n_embd=24, n_layer=2, n_head=3, resid_pdrop=0, embd_pdrop=0, attn_pdrop=0)
    token_model(out, "gpt2", transformers.GPT2LMHeadModel(transformers.GPT2Config(**gpt2)), 16, 0, lambda ids: ids)
    other = transformers.GPT2Config(**gpt2, n_inner=30, activation_function="relu", tie_word_embeddings=False,
                                    scale_attn_by_inverse_layer_idx=True)
    token_model(out, "gpt2_other", transformers.GPT2LMHeadModel(other), 16, 4, lambda ids: ids)


def in_f64(llama):
    """transformers computes Llama's norms in f32 whatever the model's dtype; the reference's rounding shall not count."""
    for module in llama.modules():
        if type(module).__name__ == "LlamaRMSNorm":
            module.forward = lambda x, m=module: torch.nn.functional.rms_norm(x, m.weight.shape, m.weight, m.variance_epsilon)
    return llama


def llama_models(out):
    import transformers

    llama = dict(vocab_size=60, hidden_size=24, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4,
                 num_key_value_heads=2, max_position_embeddings=20)
    make = lambda **options: in_f64(transformers.LlamaForCausalLM(transformers.LlamaConfig(**llama | options)))
    token_model(out, "llama", make(), 16, 0, lambda ids: ids)
    scaling = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
               "original_max_position_embeddings": 12}
    other = dict(num_key_value_heads=1, head_dim=8, hidden_act="gelu", rms_norm_eps=1e-3, pad_token_id=1,
                 tie_word_embeddings=True, rope_theta=500.0, rope_scaling=scaling, attention_bias=True, mlp_bias=True)
    token_model(out, "llama_other", make(**other), 16, 4, lambda ids: ids)


def vit(**options):
    return torchvision.models.VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=3, hidden_dim=24,
                                                mlp_dim=40, num_classes=10, **options)


def amoebanet(folder):
    """Its last pooling takes 7 x 7 pixels, all that is left of 224 x 224; smaller images leave fewer."""
    sys.path.insert(0, folder)
    from amoebanet import amoebanetd

    model = amoebanetd(num_classes=10, num_layers=3, num_filters=32)
    model.classify.pool = torch.nn.AdaptiveAvgPool2d(1)
    return model


class Gpt3Layer(torch.nn.Module):
    """Norms in front of each sublayer, whose results are added to what came out of the norms."""

    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        linear, norm = torch.nn.Linear, torch.nn.LayerNorm
        self.attn = torch.nn.ModuleDict({name: linear(width, width) for name in ("q_linear", "k_linear", "v_linear", "out")})
        self.mlp = torch.nn.ModuleDict({"linear1": linear(width, 4 * width), "linear2": linear(4 * width, width)})
        self.norm1, self.norm2 = norm(width), norm(width)

    def forward(self, x):
        x = self.norm1(x)
        split = (self.attn[k](x).unflatten(2, (self.heads, -1)).transpose(1, 2) for k in ("q_linear", "k_linear", "v_linear"))
        seen = torch.nn.functional.scaled_dot_product_attention(*split, is_causal=self.causal)
        x = self.norm2(x + self.attn["out"](seen.transpose(1, 2).flatten(2)))
        return x + self.mlp["linear2"](self.mlp["linear1"](x).relu())


class Gpt3(torch.nn.Module):
    """Built of PyTorch's own layers with the names of models/gpt3."""

    def __init__(self, lm, words=60, positions=20, width=24, layers=2, heads=3, classes=3):
        super().__init__()
        self.lm = lm
        self.embedding = torch.nn.ModuleDict({"vocab_embedding": torch.nn.Embedding(words, width),
                                              "position_embedding": torch.nn.Embedding(positions, width)})
        self.transformers = torch.nn.ModuleList(Gpt3Layer(width, heads, lm) for _ in range(layers))
        parts = {"ln_f": torch.nn.LayerNorm(width), "lm_head": torch.nn.Linear(width, words, bias=False)} if lm else {
            "pooler_layer": torch.nn.Linear(width, width), "fc_layer": torch.nn.Linear(width, classes)}
        self.classifier = torch.nn.ModuleDict(parts)

    def forward(self, ids):
        x = self.embedding["vocab_embedding"](ids) + self.embedding["position_embedding"](torch.arange(ids.shape[1]))
        for layer in self.transformers:
            x = layer(x)
        if self.lm:
            return self.classifier["lm_head"](self.classifier["ln_f"](x))
        return self.classifier["fc_layer"](self.classifier["pooler_layer"](x[:, 0]).tanh())


def gpt3(out, key, lm):
    model = fill(Gpt3(lm)).train()
    ids = torch.from_numpy((value(key, 48) * 50 + 30).astype(np.int64).reshape(3, 16))
    logits = model(ids)
    if lm:  # each place predicts the next token
        loss = torch.nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten())
    else:
        loss = torch.nn.functional.cross_entropy(logits, torch.arange(3))
    loss.backward()
    out[f"{key}/logits"] = logits.detach()
    out[f"{key}/loss"] = loss.detach().reshape(1)
    project(out, key, model)


def main():
    torch.set_num_threads(2)
    out = {}
    make = torchvision.models
    images(out, "resnet18", make.resnet18(num_classes=10), 64, 4, 10)
    images(out, "resnet50", make.resnet50(num_classes=10), 64, 4, 10)
    images(out, "vgg11", narrow(make.vgg11(num_classes=10)), 32, 2, 10)
    images(out, "vgg11_bn", narrow(make.vgg11_bn(num_classes=10)), 32, 2, 10)
    images(out, "amoebanetd", amoebanet(sys.argv[2]), 64, 2, 10)
    images(out, "vit", vit(), 32, 4, 10)
    images(out, "vit_other", vit(representation_size=20), 32, 4, 10)
    transformer_models(out)
    llama_models(out)
    gpt3(out, "gpt3", lm=False)
    gpt3(out, "gpt3_lm", lm=True)
    save_file({k: v.contiguous() for k, v in out.items()}, sys.argv[1])


main()
