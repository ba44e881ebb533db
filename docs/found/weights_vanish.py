# A million weights, room for a fifth of them on the chip, and none read from DRAM.
import nn_dataflow.core as nn

one, at, array = nn.PhyDim2(1, 1), nn.PhyDim2(0, 0), nn.PhyDim2(16, 16)
proc = nn.NodeRegion(dim=one, origin=at, type=nn.NodeRegion.PROC)
dram = nn.NodeRegion(dim=one, origin=at, type=nn.NodeRegion.DRAM)
chip = nn.Resource(proc, dram, dram, dram, array, 65536, 512, 16, 4.0, no_time_mux=False)
network = nn.Network("one")
network.set_input_layer(nn.InputLayer(1024, 1))
network.add("layer", nn.FCLayer(1024, 1024))
cost = nn.Cost(1, (200, 6, 2, 1), 10, 0)
asked = nn.NNDataflow(network, 1, chip, cost, nn.MapStrategyEyeriss)
best = asked.schedule_search(nn.Option(sw_gbuf_bypass=(True,) * 3))[0][0]["layer"].scheme
print("weight words read from DRAM:", best["access"][0][0], "of", 1024 * 1024)
print("room on the chip:", 65536 + 256 * 512, "held in the buffer:", best["size"][0][0])
