"""Machines by class, and workloads whose counts are known by heart."""

from __future__ import annotations

import pytest
from consistency import each_machine_of

from joulecheck.workload import Conv2d, Elementwise, Function, Gemm, Workload

stored_program_machine = each_machine_of("STORED_PROGRAM")
data_parallel_machine = each_machine_of("DATA_PARALLEL")
systolic_array_machine = each_machine_of("SYSTOLIC_ARRAY")
domain_flow_machine = each_machine_of("DOMAIN_FLOW")
spatial_partition_machine = each_machine_of("SPATIAL_PARTITION")
adaptive_datapath_machine = each_machine_of("ADAPTIVE_DATAPATH")
data_flow_machine = each_machine_of("DATA_FLOW_MACHINE")


@pytest.fixture
def tiny_matmul() -> Gemm:
    """64 x 64 x 64."""
    workload = Gemm(m=64, n=64, k=64)
    assert workload.ops == 524_288
    return workload


@pytest.fixture
def medium_matmul() -> Gemm:
    """1024 x 1024 x 1024."""
    workload = Gemm(m=1024, n=1024, k=1024)
    assert workload.ops == 2_147_483_648
    return workload


@pytest.fixture
def large_matmul() -> Gemm:
    """4096 x 4096 x 4096."""
    workload = Gemm(m=4096, n=4096, k=4096)
    assert workload.ops == 137_438_953_472
    return workload


@pytest.fixture
def depthwise_conv() -> Conv2d:
    """3 x 3 over 56 x 56 x 64, each channel by itself."""
    workload = Conv2d(n=1, c=64, h=56, w=56, k=64, r=3, s=3, padding=1, groups=64)
    assert workload.groups == workload.c
    assert workload.macs == 56 * 56 * 64 * 3 * 3
    return workload


@pytest.fixture
def elementwise() -> Elementwise:
    """ReLU of 2^20 elements."""
    workload = Elementwise(Function.RELU, (1, 4, 512, 512))
    assert workload.output_elements == 1 << 20
    assert workload.macs == 0
    return workload


@pytest.fixture
def known_workloads(
    tiny_matmul: Gemm,
    medium_matmul: Gemm,
    large_matmul: Gemm,
    depthwise_conv: Conv2d,
    elementwise: Elementwise,
) -> dict[str, Workload]:
    """All of them, by name."""
    return {
        "tiny_matmul": tiny_matmul,
        "medium_matmul": medium_matmul,
        "large_matmul": large_matmul,
        "depthwise_conv": depthwise_conv,
        "elementwise": elementwise,
    }
