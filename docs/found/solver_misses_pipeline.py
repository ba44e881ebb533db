# The solver's "analytical optimum" of two layers costs 11 times what a search finds.
import nn_dataflow.core as nn

four, at, array = nn.PhyDim2(2, 2), nn.PhyDim2(0, 0), nn.PhyDim2(16, 16)
proc = nn.NodeRegion(dim=four, origin=at, type=nn.NodeRegion.PROC)
dram = nn.NodeRegion(dim=four, origin=at, type=nn.NodeRegion.DRAM)
chip = nn.Resource(proc, dram, dram, dram, array, 65536, 512, 16, 4.0, no_time_mux=False)
network, cost = nn.Network("two"), nn.Cost(1, (200, 6, 2, 1), 10, 50)
network.set_input_layer(nn.InputLayer(1, 1))
network.add("first", nn.FCLayer(1, 17))
network.add("second", nn.FCLayer(17, 1))
asked = nn.NNDataflow(network, 176, chip, cost, nn.MapStrategyEyeriss)
for solve in (True, False):
    how = nn.Option((True,) * 3, solve, partition_hybrid=True, partition_interlayer=True)
    print("solver" if solve else "search", asked.schedule_search(how)[0][0].total_cost)
