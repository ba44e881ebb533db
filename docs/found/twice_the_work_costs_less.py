# Two rows through one layer cost less than half of what one row costs.
import nn_dataflow.core as nn

one, at, array = nn.PhyDim2(1, 1), nn.PhyDim2(0, 0), nn.PhyDim2(2, 2)
proc = nn.NodeRegion(dim=one, origin=at, type=nn.NodeRegion.PROC)
dram = nn.NodeRegion(dim=one, origin=at, type=nn.NodeRegion.DRAM)
chip = nn.Resource(proc, dram, dram, dram, array, 128, 16, 16, 4.0, no_time_mux=False)
network = nn.Network("one")
network.set_input_layer(nn.InputLayer(9, 1))
network.add("layer", nn.FCLayer(9, 9))
how = nn.Option(sw_gbuf_bypass=(True,) * 3, sw_solve_loopblocking=True)
cost = nn.Cost(1, (200, 6, 2, 1), 10, 0)
for rows in (1, 2):
    asked = nn.NNDataflow(network, rows, chip, cost, nn.MapStrategyEyeriss)
    print(rows, "rows:", asked.schedule_search(how)[0][0].total_cost)
