"""One line an op family."""

load("//third_party/bazel:cc.bzl", "EVERYWHERE", "torus_library")

def op_family(name, deps = []):
    """The room ops/NAME: every header and source in it and in its cpu/ is one target, open to the tree.

    ops/cpu itself is what the CPU kernels of several rooms share.

    Its ops' gradients are enrolled by tests/ops/gradient_table_test, which reads the sources: each Record("x", ...)
    needs a GRADIENT_CASE(x) or a written exemption.
    """
    torus_library(
        name,
        srcs = native.glob([name + "/*.cc", name + "/cpu/*.cc"]),
        hdrs = native.glob([name + "/*.h", name + "/cpu/*.h"]),
        deps = deps + ([] if name == "cpu" else ["//ops:cpu"]) + ([] if name in ["cpu", "precision"] else ["//ops:precision"]) + [
            "//autograd:node",
            "//autograd:saved_activation",
            "//runtime:parallel_for",
            "//runtime:tensor",
            "@highway",
        ],
        visibility = EVERYWHERE,
    )
