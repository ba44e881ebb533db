"""What a model is asked: precisions, operators and small graphs of them."""

from joulecheck.workload.operators import (
    Conv2d,
    Elementwise,
    Function,
    Gemm,
    LoopNest,
    Operator,
    Shape,
    fitted_conv2d,
)
from joulecheck.workload.precision import PLAINEST_FIRST, Precision
from joulecheck.workload.subgraph import (
    MAX_NODES,
    AnyOperator,
    Node,
    Subgraph,
    Totals,
    Traffic,
    Workload,
    gemm_columns,
    loop_nest,
    nodes_of,
    operand_count,
    rewired,
    traffic,
)

__all__ = [
    "MAX_NODES",
    "PLAINEST_FIRST",
    "AnyOperator",
    "Conv2d",
    "Elementwise",
    "Function",
    "Gemm",
    "LoopNest",
    "Node",
    "Operator",
    "Precision",
    "Shape",
    "Subgraph",
    "Totals",
    "Traffic",
    "Workload",
    "fitted_conv2d",
    "gemm_columns",
    "loop_nest",
    "nodes_of",
    "operand_count",
    "rewired",
    "traffic",
]
