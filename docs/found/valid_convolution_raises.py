# A filter of 3 rows over 19 rows raises: as laid out, it would use 40 % of the array.
import nn_dataflow.core as nn

one, at, array = nn.PhyDim2(1, 1), nn.PhyDim2(0, 0), nn.PhyDim2(16, 16)
proc = nn.NodeRegion(dim=one, origin=at, type=nn.NodeRegion.PROC)
dram = nn.NodeRegion(dim=one, origin=at, type=nn.NodeRegion.DRAM)
chip = nn.Resource(proc, dram, dram, dram, array, 65536, 512, 16, 4.0, no_time_mux=False)
network = nn.Network("one")
network.set_input_layer(nn.InputLayer(1, (19, 1)))
network.add("conv", nn.ConvLayer(1, 1, (17, 1), (3, 1)))
cost = nn.Cost(1, (200, 6, 2, 1), 10, 50)
asked = nn.NNDataflow(network, 1, chip, cost, nn.MapStrategyEyeriss)
print(asked.schedule_search(nn.Option())[0][0].total_cost)
