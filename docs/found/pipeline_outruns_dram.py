# Two pipelined layers take 150 cycles; DRAM takes 225 to move their words.
import nn_dataflow.core as nn

four, at, array = nn.PhyDim2(2, 2), nn.PhyDim2(0, 0), nn.PhyDim2(16, 16)
proc = nn.NodeRegion(dim=four, origin=at, type=nn.NodeRegion.PROC)
dram = nn.NodeRegion(dim=four, origin=at, type=nn.NodeRegion.DRAM)
chip = nn.Resource(proc, dram, dram, dram, array, 65536, 512, 16, 4.0, no_time_mux=False)
network = nn.Network("two")
network.set_input_layer(nn.InputLayer(300, 1))
network.add("first", nn.FCLayer(300, 1))
network.add("second", nn.FCLayer(1, 300))
cost, how = nn.Cost(1, (200, 6, 2, 1), 10, 50), nn.Option(partition_interlayer=True)
asked = nn.NNDataflow(network, 1, chip, cost, nn.MapStrategyEyeriss)
best = asked.schedule_search(how)[0][0]
print(best.total_time, "cycles for", best.total_accesses[0], "words, 4 words a cycle")
