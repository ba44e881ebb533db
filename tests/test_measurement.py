"""Measurements: their files, and what taking them on this machine gives."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from joulecheck.case import Case
from joulecheck.errors import InvalidMeasurement, Unsupported
from joulecheck.validation import timing
from joulecheck.validation.measurement import Measurement, lines, read
from joulecheck.workload import Conv2d, Elementwise, Function, Gemm, Precision, Subgraph
from joulecheck.workload.subgraph import Node

HEADING = "machine,op,m,n,k,precision,latency_s\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "taken.csv"


class TestReading:
    def test_a_table_has_a_measurement_a_row(self, file: Path) -> None:
        file.write_text(
            "machine,op,m,n,k,precision,latency_s,latency_min_s,latency_max_s,repeats,use\n"
            "reference:Google-TPU-v1,gemm,256,128,64,INT8,1e-5,9e-6,2e-5,9,fit\n"
            "own:Npu,gemm,1,1,1,FP32,2,,,,\n"
        )

        first, second = read(file)

        assert first == Measurement(
            machine="reference:Google-TPU-v1",
            case=Case(Gemm(256, 128, 64), Precision.INT8),
            latency=1e-5,
            latency_min=9e-6,
            latency_max=2e-5,
            repeats=9,
            use="fit",
        )
        assert (second.latency, second.repeats, second.use) == (2.0, 1, "check")
        assert second.spread("latency") is None

    def test_a_spreadsheet_may_begin_with_its_mark(self, file: Path) -> None:
        file.write_text(HEADING + "a:b,gemm,1,1,1,FP32,2\n", encoding="utf-8-sig")

        assert read(file)[0].machine == "a:b"

    def test_words_stay_words(self, file: Path) -> None:
        file.write_text(
            "machine,op,m,n,k,precision,latency_s,conditions\n"
            '007,gemm,1,1,1,FP32,2,"1.50\nV"\n'
        )

        (one,) = read(file)

        assert (one.machine, one.conditions) == ("007", "1.50\nV")

    @pytest.mark.parametrize(
        ("row", "why"),
        [
            ("a:b,gemm,1,1,1,FP32,inf", "must be < inf"),
            ("a:b,5,1,1,1,FP32,2", "no operator is called '5'"),
            ("a:b,gemm,1,1,1,FP32,2,3,4", "more values than there are columns: .'3', '4'"),
        ],
    )
    def test_a_wrong_row_is_told_with_its_line(
        self, file: Path, row: str, why: str
    ) -> None:
        file.write_text(HEADING + row + "\n")

        with pytest.raises(InvalidMeasurement, match=f"line 2: .*{why}"):
            read(file)

    @pytest.mark.parametrize(
        ("line", "why"),
        [
            ('{"machine": "a:b", "op": ["gemm"], "precision": "FP32"}', "no operator"),
            ('{"machine": "a:b", "op": 5, "precision": "FP32"}', "no operator"),
            ('{"machine": "a:b", "latency_s": Infinity}', "no JSON: Infinity"),
            ("[" * 100_000, "no JSON: it is nested too deeply"),
        ],
    )
    def test_a_wrong_line_of_json_is_told(
        self, tmp_path: Path, line: str, why: str
    ) -> None:
        file = tmp_path / "taken.jsonl"
        file.write_text(line)

        with pytest.raises(InvalidMeasurement, match=f"line 1: .*{why}"):
            read(file)

    @pytest.mark.parametrize(("least", "greatest"), [(3.0, 4.0), (1.0, 1.5), (3.0, 1.0)])
    def test_a_median_is_between_the_ends(self, least: float, greatest: float) -> None:
        with pytest.raises(ValueError, match="must come in this order"):
            Measurement(
                machine="a:b",
                case=Case(Gemm(1, 1, 1)),
                latency=2.0,
                latency_min=least,
                latency_max=greatest,
            )

    def test_lines_of_json_come_back_equal(self, tmp_path: Path) -> None:
        taken = [
            Measurement(machine="a:b", case=Case(work, Precision.FP16), energy=1e-3)
            for work in (
                Gemm(2, 3, 5, batch=7),
                Conv2d(n=1, c=2, h=9, w=9, k=4, r=3, s=3, stride=2, padding=1),
                Elementwise(Function.ADD, (2, 3), operands=3),
            )
        ]
        file = tmp_path / "taken.jsonl"
        file.write_text(lines(taken))

        assert read(file) == taken

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("", "has no measurement"),
            (HEADING + "a:b,gemm,1,1,1,FP32,\n", "line 2: it must have latency_s or energ"),
            (HEADING + "a:b,gemm,1,1,1,FP32,0\n", "line 2:.*latency.* must be > 0"),
            (HEADING + "a:b,gemm,1,1,x,FP32,1\n", "line 2: .*a whole number, got 'x'"),
            (HEADING + "a:b,gemm,0,1,1,FP32,1\n", "line 2: .*Gemm.m must be an int >= 1"),
            (HEADING + "a:b,gem,1,1,1,FP32,1\n", "line 2: no operator is called 'gem'"),
            (HEADING + "a:b,gemm,1,1,1,FP33,1\n", "line 2: .*no Precision is.*'FP33'"),
            (HEADING + ",gemm,1,1,1,FP32,1\n", "line 2: it must say 'machine'"),
            ("machine,op,m,n,k,precision,took\na,gemm,1,1,1,FP32,1\n", "no column.*'took'"),
        ],
    )
    def test_what_breaks_a_rule_is_named_with_its_line(
        self, file: Path, text: str, message: str
    ) -> None:
        file.write_text(text)

        with pytest.raises(InvalidMeasurement, match=message):
            read(file)

    @pytest.mark.parametrize(
        ("line", "message"), [("{", "line 1: no JSON"), ("[1]", "must be a JSON object")]
    )
    def test_damaged_json_is_named_with_its_line(
        self, tmp_path: Path, line: str, message: str
    ) -> None:
        file = tmp_path / "taken.jsonl"
        file.write_text(line)

        with pytest.raises(InvalidMeasurement, match=message):
            read(file)

    def test_a_file_that_is_neither_or_not_there_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidMeasurement, match=r"must end in \.csv or \.jsonl"):
            read(tmp_path / "taken.txt")
        with pytest.raises(InvalidMeasurement, match="cannot be read"):
            read(tmp_path / "taken.csv")


class TestTakingTime:
    @pytest.mark.parametrize(
        "work",
        [
            Gemm(8, 4, 2),
            Gemm(8, 4, 2, batch=3),
            Conv2d(n=2, c=3, h=8, w=9, k=4, r=3, s=2, stride=2, padding=1, dilation=2),
            Elementwise(Function.RELU, (4, 4)),
            Elementwise(Function.MULTIPLY, (4, 4), operands=3),
        ],
        ids=str,
    )
    def test_the_median_lies_between_the_ends_of_the_repeats(
        self, work: Gemm | Conv2d | Elementwise, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(timing, "SHORTEST", 1e-5)

        taken = timing.measure(Case(work), "host:here", repeats=3)

        assert taken.repeats == 3
        assert None not in {taken.latency_min, taken.latency, taken.latency_max}
        assert 0 < taken.latency_min <= taken.latency <= taken.latency_max  # type: ignore[operator]

    @pytest.mark.parametrize(
        ("case", "message"),
        [
            (Case(Gemm(1, 1, 1), Precision.INT4), "FP64, FP32, not at INT4"),
            (Case(Elementwise(Function.GELU, (1,))), "no single loop for GELU"),
            (Case(Subgraph([Node(Gemm(1, 1, 1))])), "one operator at a time"),
            (
                Case(Conv2d(n=1, c=2, h=1, w=1, k=2, r=1, s=1, groups=2)),
                "with one group, not 2",
            ),
        ],
    )
    def test_what_numpy_does_not_do_well_is_refused(self, case: Case, message: str) -> None:
        with pytest.raises(Unsupported, match=message):
            timing.work_of(case)

    def test_a_convolution_has_the_right_result(self) -> None:
        work = Conv2d(n=1, c=1, h=4, w=5, k=1, r=2, s=2, stride=1)

        out = timing.work_of(Case(work, Precision.FP64))()

        assert out.shape == (3 * 4, 1)  # type: ignore[attr-defined]

    def test_the_machine_is_described(self) -> None:
        assert "logical processors" in timing.conditions()


class TestEnergyCounters:
    @pytest.fixture
    def root(self, tmp_path: Path) -> Path:
        for name, reading in {"intel-rapl:0": 1_000_000, "intel-rapl:0:0": 5}.items():
            domain = tmp_path / name
            domain.mkdir()
            (domain / "energy_uj").write_text(str(reading))
            (domain / "max_energy_range_uj").write_text("2000000")
        return tmp_path

    def test_packages_are_counted_and_their_parts_not(self, root: Path) -> None:
        assert len(timing.counters(root)) == 1
        assert timing.why_no_energy(root) == ""

    def test_a_counter_that_has_wrapped_is_read_on(self, root: Path) -> None:
        (counter,) = timing.counters(root)

        assert math.isclose(counter.since(400_000), 0.6)
        assert math.isclose(counter.since(1_500_000), 1.5)

    def test_why_there_is_none_is_said(self, tmp_path: Path) -> None:
        assert "no counter under" in timing.why_no_energy(tmp_path)

        (tmp_path / "intel-rapl:0").mkdir()
        assert "may not be read" in timing.why_no_energy(tmp_path / ".")
