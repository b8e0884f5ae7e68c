"""The GPU architectures that kernels are compiled for: --define=cuda_architectures=sm_80,sm_90,compute_90.

sm_90 is machine code for GPUs of compute capability 9.0. compute_90 is PTX, from which a driver makes the code of 9.0 and all later ones
when a program starts; it is what GPUs without machine code of their own run.
"""

DEFAULT_ARCHITECTURES = "sm_90,compute_90"

_NUMBERS = ["80", "89", "90", "100"]

# The one whose registers are known: flash attention has 252 of 255 there.
_HELD = "sm_90"

_ALLOWED = ["%s_%s" % (kind, number) for kind in ["sm", "compute"] for number in _NUMBERS]

def nvcc_architectures(text):
    """Returns nvcc's `flags` for a comma-separated list, and whether it `forbids_spills` of registers; or else an `error`.

    It does if machine code is made for the held architecture alone, since nvcc cannot be told for each.
    """
    names = text.split(",")
    for name in names:
        if name not in _ALLOWED or len([other for other in names if other == name]) > 1:
            return struct(flags = [], forbids_spills = False, error = "--define=cuda_architectures must be some of %s, each once, got '%s'" % (
                ",".join(_ALLOWED),
                text,
            ))
    flags = ["-gencode=arch=compute_%s,code=%s" % (name.split("_")[1], name) for name in names]
    machine_code = [name for name in names if name.startswith("sm_")]
    return struct(flags = flags, forbids_spills = machine_code == [_HELD], error = "")
