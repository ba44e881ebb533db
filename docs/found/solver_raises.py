# The solver raises UnboundLocalError where the exhaustive search finds a schedule.
import nn_dataflow.core as nn

one, at, array = nn.PhyDim2(1, 1), nn.PhyDim2(0, 0), nn.PhyDim2(2, 2)
proc = nn.NodeRegion(dim=one, origin=at, type=nn.NodeRegion.PROC)
dram = nn.NodeRegion(dim=one, origin=at, type=nn.NodeRegion.DRAM)
chip = nn.Resource(proc, dram, dram, dram, array, 128, 16, 16, 4.0, no_time_mux=False)
network = nn.Network("one")
network.set_input_layer(nn.InputLayer(1, (7, 19)))
network.add("conv", nn.ConvLayer(1, 1, (4, 10), 1, 2))
cost = nn.Cost(1, (200, 6, 2, 1), 10, 0)
asked = nn.NNDataflow(network, 1, chip, cost, nn.MapStrategyEyeriss)
for solve in (False, True):
    how = nn.Option(sw_gbuf_bypass=(True,) * 3, sw_solve_loopblocking=solve)
    print("solver" if solve else "exhaustive", asked.schedule_search(how)[0][0].total_cost)
