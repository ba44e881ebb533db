"""Workloads in words."""

from __future__ import annotations

from joulecheck.workload.operators import Conv2d, Elementwise, Gemm
from joulecheck.workload.subgraph import Subgraph, Totals, Workload


def workload_text(workload: Workload) -> str:
    """A workload in the field's letters; what is plain is left out."""
    match workload:
        case Gemm():
            batch = f" batch={workload.batch}" if workload.batch > 1 else ""
            return f"gemm M={workload.m} N={workload.n} K={workload.k}{batch}"
        case Conv2d():
            sizes = " ".join(f"{n.upper()}={getattr(workload, n)}" for n in "nchwkrs")
            plain = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1}
            others = [
                f" {name}={getattr(workload, name)}"
                for name, value in plain.items()
                if getattr(workload, name) != value
            ]
            return f"conv2d {sizes}{''.join(others)}"
        case Elementwise():
            shape = "x".join(map(str, workload.shape))
            operands = f" operands={workload.operands}" if workload.operands > 1 else ""
            return f"{workload.function.name.lower()} {shape}{operands}"
        case Subgraph():
            return " -> ".join(workload_text(node.operator) for node in workload.nodes)
        case Totals():
            return f"totals ops={workload.ops} bytes={workload.bytes}"
