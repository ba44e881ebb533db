"""A model and the others that it can be compared with."""

from __future__ import annotations

import sys
from pathlib import Path

import attrs
import pytest

from corpus_examples import finding
from joulecheck.campaign.search import Unit, search_and_minimise
from joulecheck.case import Case, Cases, PeerCase
from joulecheck.cli.options import chosen_models
from joulecheck.corpus import Outcome, replay
from joulecheck.counterexample import Counterexample, from_json, numbers_of, to_json
from joulecheck.errors import UnknownName
from joulecheck.faults import fault_named, inject
from joulecheck.model import Offer, Subject
from joulecheck.property import property_named
from joulecheck.reports.wording import case_lines
from joulecheck.resolve import ModelRef, as_peers, models_named, references, stored_model
from joulecheck.workload import Gemm, Precision
from tiny import MAC, Tiny, energy

AGX, NX, NANO = (
    f"reference:Jetson-Orin-{name}" for name in ("AGX-64GB", "NX-16GB", "Nano-8GB")
)
CPU = "reference:Jetson-Orin-AGX-CPU"

SOURCE = """
from joulecheck import Estimate

class Npu:
    name = "npu"
    def estimate(self, case, scale={}):
        return Estimate(energy=1.0 * case.ops)

class Tpu(Npu):
    name = "tpu"

FAMILY = {"small": Npu, "large": Tpu}
"""


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A module of the user's own, in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    name = f"own_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(SOURCE)
    return name


class TestRegistered:
    """Models of a registered family."""

    def test_all_others_of_the_family_are_listed(self) -> None:
        peers = stored_model(AGX).peers

        assert AGX not in peers
        assert set(peers) | {AGX} == {m.name for m in models_named("reference:*")}
        assert len(peers) == 46

    def test_a_peer_is_the_model_of_that_name(self) -> None:
        assert stored_model(AGX).peers[NX]() is stored_model(NX)

    def test_an_operating_point_is_known_and_not_listed(self) -> None:
        peers = stored_model(CPU).peers

        assert f"{CPU}@30W" in peers
        assert f"{CPU}@31W" not in peers
        assert f"{CPU}@30W" not in list(peers)
        assert CPU in stored_model(f"{CPU}@30W").peers

    def test_no_model_of_another_family_is_a_peer(self) -> None:
        assert "archetype:TPU" not in stored_model(AGX).peers

    def test_they_are_offered(self) -> None:
        assert Offer.PEERS in stored_model(AGX).offers
        assert Offer.PEERS not in Subject.of(Tiny(energy)).offers

    def test_an_unknown_peer_is_told(self) -> None:
        with pytest.raises(UnknownName, match="no peer called 'reference:Jetson-Orin-NX'"):
            stored_model(AGX).peer("reference:Jetson-Orin-NX")


class TestPath:
    """How a peer is asked."""

    def test_as_the_model_is(self) -> None:
        model = stored_model(AGX)

        assert model.peer(NX).vectorised
        assert not model.one_by_one.peer(NX).vectorised

    def test_with_its_signs_of_life(self) -> None:
        rows: list[int] = []
        tiny = Subject.of(Tiny(energy))
        model = tiny.beside({"other": lambda: Subject.of(Tiny(energy), name="other")})
        attrs.evolve(model, heartbeat=rows.append).peer("other").ask(Cases.of([MAC, MAC]))

        assert rows == [0, 1]


class TestFault:
    """A fault is in the model and not in what it is compared with."""

    def test_leaves_the_peers_sound(self) -> None:
        faulty = inject(stored_model(AGX), fault_named("dear-int8"))

        assert faulty.peer(NX).model is stored_model(NX).model
        assert list(faulty.peers) == list(stored_model(AGX).peers)


class TestOwn:
    """Models of the user's own."""

    def test_a_mapping_is_a_family(self, own: str) -> None:
        small, large = models_named(f"{own}:FAMILY")

        assert list(small.peers) == [large.name]
        assert large.peer(small.name).name == f"{own}:FAMILY:small"

    def test_one_of_a_mapping_knows_the_others(self, own: str) -> None:
        (small,) = models_named(f"{own}:FAMILY:small")

        assert list(small.peers) == [f"{own}:FAMILY:large"]

    def test_a_class_alone_has_none(self, own: str) -> None:
        (npu,) = models_named(f"{own}:Npu")

        assert not npu.peers

    def test_those_named_together_are_peers(self, own: str) -> None:
        npu, tpu, agx = chosen_models([f"{own}:Npu", f"{own}:Tpu", AGX])

        assert list(npu.peers) == [tpu.name]
        assert npu.peer(tpu.name).name == tpu.name
        assert Offer.PEERS in npu.offers
        assert npu.name not in agx.peers

    def test_and_are_so_in_every_process(self, own: str) -> None:
        models = chosen_models([f"{own}:Npu", f"{own}:Tpu", AGX])
        refs = references(models)

        assert refs[0] == ModelRef(f"{own}:Npu", None, (f"{own}:Tpu",))
        assert refs[2] == ModelRef(AGX)
        assert refs[0].load().peer(f"{own}:Tpu").model.name == "tpu"

    def test_nothing_changes_for_a_single_one(self, own: str) -> None:
        models = models_named(f"{own}:Npu")

        assert as_peers(models) == models


FOUND = Counterexample(
    model=AGX,
    property="ORD001",
    case=PeerCase(MAC, NX),
    genes=(),
    margin=-1.0,
    numbers=(),
)


class TestCounterexample:
    """A violation by a model and a peer."""

    def test_names_the_peer_and_comes_back(self) -> None:
        text = to_json(FOUND)

        assert f'"peer": "{NX}"' in text
        assert from_json(text) == FOUND

    def test_has_the_numbers_of_both(self) -> None:
        model, peer = numbers_of(stored_model(AGX), FOUND.case)

        (alone,) = numbers_of(stored_model(NX), MAC)

        assert model.role == "model"
        assert peer == attrs.evolve(alone, role="peer")

    def test_is_worded_with_the_peer(self) -> None:
        assert case_lines(FOUND.case) == [
            ("minimal", "gemm M=1 N=1 K=1 FP32"),
            ("peer", NX),
        ]


class TestReplay:
    """Stored cases of a model and a peer."""

    def replayed(self, found: Counterexample, model: Subject | None = None) -> Outcome:
        stored = attrs.evolve(finding(), counterexample=found)
        (one,) = replay([stored], lambda name: model or stored_model(name))
        self.reason = one.reason
        return one.outcome

    def test_a_sound_model_has_it_fixed(self) -> None:
        assert self.replayed(FOUND) is Outcome.FIXED

    def test_a_faulty_one_still_fails(self) -> None:
        faulty = ModelRef(AGX, "serial-launch").load()

        assert self.replayed(FOUND, faulty) is Outcome.STILL_FAILS

    def test_a_peer_that_is_gone_cannot_run(self) -> None:
        gone = attrs.evolve(FOUND, case=PeerCase(MAC, "reference:Jetson-Orin-XX"))

        assert self.replayed(gone) is Outcome.CANNOT_RUN
        assert "no peer called 'reference:Jetson-Orin-XX'" in self.reason

    def test_a_name_in_stored_data_is_never_imported(self, own: str) -> None:
        elsewhere = attrs.evolve(FOUND, case=PeerCase(MAC, f"{own}:Npu"))

        assert self.replayed(elsewhere) is Outcome.CANNOT_RUN
        assert own not in sys.modules

    def test_a_peer_that_refuses_the_case_cannot_run(self) -> None:
        case = Case(Gemm(m=1, n=1, k=1), Precision.FP8_E4M3)
        refused = attrs.evolve(FOUND, case=PeerCase(case, NX))

        assert self.replayed(refused) is Outcome.CANNOT_RUN
        assert "does not support" in self.reason


class TestSearch:
    """A law over two models, searched."""

    def test_finds_what_is_planted_and_names_the_peer(self) -> None:
        model = ModelRef(AGX, "serial-launch").load()

        found = search_and_minimise(
            Unit(AGX, "ORD001", 5, 0, 512), model, property_named("ORD001")
        )

        assert found.counterexample is not None
        assert found.counterexample.case == PeerCase(MAC, NX)
        assert [numbers.role for numbers in found.counterexample.numbers] == [
            "model",
            "peer",
        ]
