"""Makes lr_schedules.safetensors: learning rates of torch.optim.lr_scheduler, as multiples of the peak.

Needs torch==2.15.0, safetensors, numpy. Each tensor is named SPEC/TOTAL/WARMUP/STEPS_PER_EPOCH and has TOTAL float64 values.
"""
import os
import warnings

import numpy as np
import torch
from safetensors.numpy import save_file
from torch.optim import lr_scheduler

assert torch.__version__.split("+")[0] == "2.15.0", torch.__version__

# spec, total steps, warm-up steps, steps an epoch
CASES = [("constant", 20, 0, 1), ("constant", 20, 7, 1),
         ("cosine", 50, 0, 1), ("cosine", 50, 10, 1), ("cosine", 2, 1, 1),
         ("one-cycle", 100, 0, 1), ("one-cycle", 7, 0, 1), ("one-cycle", 1, 0, 1), ("one-cycle", 60, 20, 1),
         ("step:30:0.1", 100, 0, 1), ("step:2:0.5", 40, 5, 3)]


def scheduler(optimizer, spec, total, warmup, epoch):
    if spec == "one-cycle":
        share = warmup / total if warmup else 0.3
        return lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=total, pct_start=share)
    if spec == "constant":
        main = lr_scheduler.ConstantLR(optimizer, factor=1.0)
    elif spec == "cosine":
        main = lr_scheduler.CosineAnnealingLR(optimizer, T_max=total - warmup)
    else:
        _, size, gamma = spec.split(":")
        main = lr_scheduler.StepLR(optimizer, step_size=int(size) * epoch, gamma=float(gamma))
    if not warmup:
        return main
    rise = lr_scheduler.LinearLR(optimizer, start_factor=1 / (warmup + 1), total_iters=warmup)
    return lr_scheduler.SequentialLR(optimizer, [rise, main], milestones=[warmup])


def rates(spec, total, warmup, epoch):
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0, momentum=0.9)
    schedule = scheduler(optimizer, spec, total, warmup, epoch)
    out = []
    for _ in range(total):
        out.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        if len(out) < total:
            schedule.step()
    return np.array(out, dtype=np.float64)


warnings.simplefilter("ignore")
tensors = {"/".join(map(str, case)): rates(*case) for case in CASES}
path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "lr_schedules.safetensors")
save_file(tensors, path, metadata={"torch": "2.15.0"})
