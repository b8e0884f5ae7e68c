"""One line an op family."""

load("//third_party/bazel:cc.bzl", "EVERYWHERE", "torus_library")
load("//third_party/bazel:cuda.bzl", "cuda_library")

def _cuda_kernels(name, cuda_deps):
    cuda_library(
        name + "/cuda",
        # With the room's own headers: functors, names of operations.
        hdrs = native.glob([name + "/*.h", name + "/cuda/*.h"]),
        srcs = native.glob([name + "/cuda/*.cu"]),
        deps = cuda_deps + [
            "//autograd:observe_product",
            "//runtime:cuda/column_sums",
            "//runtime:cuda/divide",
            "//runtime:cuda/hand_over",
            "//runtime:cuda/philox",
            "//runtime:cuda/strided",
            "//runtime:host_device",
            "//runtime:kernel_table",
            "//runtime:rows",
            "//runtime:tensor",
        ],
        visibility = ["//tests/ops:__pkg__"],
    )

def op_family(name, deps = [], cuda_deps = []):
    """The room ops/NAME: every header and source in it and in its cpu/ is one target, open to the tree.

    NAME/cuda, where there is such a folder, is its kernels for GPUs; `cuda_deps` are other rooms' that they need.

    ops/cpu itself is what the CPU kernels of several rooms share.

    Its ops' gradients are enrolled by tests/ops/gradient_table_test, which reads the sources: each Record("x", ...)
    needs a GRADIENT_CASE(x) or a written exemption.
    """
    has_cuda = len(native.glob([name + "/cuda/*.cu"])) > 0
    if has_cuda:
        _cuda_kernels(name, cuda_deps)
    headers = native.glob([name + "/*.h", name + "/cpu/*.h"])
    needed = deps + ([name + "/cuda"] if has_cuda else []) + ([] if name == "cpu" else ["//ops:cpu"]) + ([] if name in ["cpu", "precision"] else ["//ops:precision"]) + [
        "//autograd:node",
        "//autograd:observe_product",
        "//autograd:saved_activation",
        "//runtime:kernel_table",
        "//runtime:parallel_for",
        "//runtime:rows",
        "//runtime:tensor",
        "@highway",
    ]

    # Apart, since they are the same with and without GPUs.
    torus_library(
        name + "/cpu_kernels",
        srcs = native.glob([name + "/cpu/*.cc"]),
        hdrs = headers,
        deps = needed,
    )
    torus_library(
        name,
        srcs = native.glob([name + "/*.cc"]),
        hdrs = headers,
        gpu_aware = True,
        deps = [name + "/cpu_kernels"] + needed,
        visibility = EVERYWHERE,
    )
