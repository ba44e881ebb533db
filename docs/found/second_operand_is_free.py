# Adding n tensors of one element reads n words; the library reads one, whatever n is.
import nn_dataflow.core as nn

one, at, array = nn.PhyDim2(1, 1), nn.PhyDim2(0, 0), nn.PhyDim2(16, 16)
proc = nn.NodeRegion(dim=one, origin=at, type=nn.NodeRegion.PROC)
dram = nn.NodeRegion(dim=one, origin=at, type=nn.NodeRegion.DRAM)
chip = nn.Resource(proc, dram, dram, dram, array, 65536, 512, 16, 4.0, no_time_mux=False)
cost = nn.Cost(1, (200, 6, 2, 1), 10, 50)
for n in (1, 2, 3):
    network = nn.Network("sum")
    network.set_input_layer(nn.InputLayer(n, 1))
    network.add("sum", nn.EltwiseLayer(1, 1, n))
    asked = nn.NNDataflow(network, 1, chip, cost, nn.MapStrategyEyeriss)
    found = asked.schedule_search(nn.Option())[0][0]["sum"].scheme["access"][0]
    print(n, "operands:", found[1], "words read from DRAM,", found[2], "written")
