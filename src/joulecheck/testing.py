"""Properties in a test suite: the front door beside the command line.

```python
from joulecheck.testing import applicable, assert_holds

@pytest.mark.parametrize("law", applicable(Npu))
def test_npu(law):
    assert_holds(law, Npu)
```

Wherever a model is asked for, it may be an instance, a class, a `Subject`, or a name
such as "reference:Google-TPU-v1".
"""

from __future__ import annotations

import math
from pathlib import Path

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Flaky, Unsatisfiable

from joulecheck.case import AnyCase
from joulecheck.corpus import Finding, finding_file
from joulecheck.counterexample import Counterexample, numbers_of
from joulecheck.errors import NotOffered, UnknownName
from joulecheck.model import Subject
from joulecheck.property import Property, Violated, installed, property_named
from joulecheck.reports.wording import Line, case_lines, number_lines
from joulecheck.resolve import models_named, stored_model

__all__ = [
    "Violated",
    "applicable",
    "assert_fixed",
    "assert_holds",
    "assert_holds_for",
    "explained",
    "margin_of",
    "subject_of",
]


def assert_holds(
    law: Property | str,
    model: object,
    *,
    max_examples: int | None = None,
    seed: int = 0,
    shrink: bool = True,
) -> None:
    """Hold a property for cases that Hypothesis draws, and shrink the first that fails.

    The cases depend on the property, the model and the seed (Hypothesis also tries
    constants of the modules that are loaded): nothing is stored, and the result is the
    same with and without `CI` in the environment. Verbosity, and
    `max_examples` unless it is given, are those of the Hypothesis profile in force.

    Args:
        law: a property or its id, such as "MON001".
        model: the model under test.
        max_examples: how many cases of the property's domain are drawn.
        seed: draws other cases.
        shrink: whether to make the failing case minimal.

    Raises:
        Violated: the property does not hold; with the minimal case and the numbers.
        NotOffered: the property does not apply to the model, or met no case in its
            domain.
        UnknownName: no property or model is called so.
        InvalidModel: the object breaks the model protocol.
    """
    __tracebackhide__ = True
    subject, asked = subject_of(model), _law(law)
    _require_applicable(asked, subject)
    plainest: list[Violated] = []

    @hypothesis.seed(seed)
    @_settings(max_examples, shrink=shrink)
    @given(asked.space(subject).strategy())
    def holds(case: AnyCase) -> None:
        margin = asked.margin_of(subject, case)
        if math.isnan(margin):
            hypothesis.reject()
        if margin < 0:
            plainest[:] = [Violated(asked, subject.name, case, margin)]
            raise plainest[0]

    try:
        holds()
    except Violated as violated:
        raise _told(asked, subject, violated) from None
    except Flaky:
        raise _told(asked, subject, plainest[0], _FLAKY) from None
    except Unsatisfiable as error:
        msg = (
            f"{asked.id} {asked.name} met no case in its domain on {subject.name}: "
            f"the model must answer some of the cases of its `operators` and "
            f"`precisions`"
        )
        raise NotOffered(msg) from error


_FLAKY = ("flaky", "the same case held when it was asked again: see DET001")


def _settings(max_examples: int | None, *, shrink: bool) -> settings:
    """Our own settings where a result depends on them, else those that are in force."""
    return settings(
        max_examples=settings().max_examples if max_examples is None else max_examples,
        database=None,
        derandomize=True,
        deadline=None,
        phases=(Phase.generate, Phase.shrink) if shrink else (Phase.generate,),
        print_blob=False,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


def assert_holds_for(law: Property | str, model: object, case: AnyCase) -> None:
    """Hold a property for one case, as a regression test does.

    Args:
        law: a property or its id.
        model: the model under test.
        case: of the kind that the property asks about.

    Raises:
        Violated: it does not hold.
        NotOffered: the property does not apply to the model, or says nothing of the
            case.
        UnknownName: no property or model is called so.
        InvalidModel: the object breaks the model protocol.
    """
    __tracebackhide__ = True
    subject, asked = subject_of(model), _law(law)
    margin = margin_of(asked, subject, case)
    if math.isnan(margin):
        msg = (
            f"{asked.id} says nothing of this case: it is outside the property's "
            f"domain, or {subject.name} does not answer it: "
            + ", ".join(text for _, text in case_lines(case))
        )
        raise NotOffered(msg)
    if margin < 0:
        raise _told(asked, subject, Violated(asked, subject.name, case, margin))


def assert_fixed(
    found: Path | str | Finding | Counterexample, model: object | None = None
) -> None:
    """Hold what a stored counterexample once violated.

    Args:
        found: a counterexample, a finding, or the file of one, as `joulecheck findings
            export` writes it.
        model: the model under test; if None, the one of a registered family that the
            counterexample names.

    Raises:
        Violated: the case still fails.
        NotOffered: it cannot be judged any more.
        UnknownName: its property is not installed, or its model is of no registered
            family and was not given.
        CorpusError: the file is no finding.
    """
    __tracebackhide__ = True
    if isinstance(found, Path | str):
        found = finding_file.read(Path(found))
    stored = found.counterexample if isinstance(found, Finding) else found
    subject = stored_model(stored.model) if model is None else model
    assert_holds_for(stored.property, subject, stored.case)


def margin_of(law: Property | str, model: object, case: AnyCase) -> float:
    """The margin of one case: at least 0 where the property holds, NaN off its domain.

    Args:
        law: a property or its id.
        model: the model under test.
        case: of the kind that the property asks about.

    Raises:
        NotOffered: the property does not apply to the model.
        UnknownName: no property or model is called so.
        InvalidModel: the object breaks the model protocol.
    """
    subject, asked = subject_of(model), _law(law)
    _require_applicable(asked, subject)
    return asked.margin_of(subject, case)


def applicable(model: object) -> list[str]:
    """The ids of all installed properties that apply to a model, for `parametrize`.

    Raises:
        UnknownName: no model is called so.
        InvalidModel: the object breaks the model protocol.
    """
    subject = subject_of(model)
    return [law.id for law in installed().values() if not _objection(law, subject)]


def subject_of(model: object) -> Subject:
    """A model as the harness sees it.

    Args:
        model: an instance, a class, a `Subject`, or a name that names one model.

    Raises:
        UnknownName: the name matches no model, or several.
        InvalidModel: the object breaks the model protocol.
    """
    if isinstance(model, Subject):
        return model
    if not isinstance(model, str):
        return Subject.of(model)
    found = models_named(model)
    if len(found) > 1:
        names = ", ".join(subject.name for subject in found)
        msg = f"{model!r} names {len(found)} models, {names}: name one of them"
        raise UnknownName(msg)
    return found[0]


def _law(law: Property | str) -> Property:
    return property_named(law) if isinstance(law, str) else law


def _require_applicable(law: Property, subject: Subject) -> None:
    objection = _objection(law, subject)
    if objection:
        msg = f"{law.id} {law.name} does not apply to {subject.name}: {objection}"
        raise NotOffered(msg)


def _objection(law: Property, subject: Subject) -> str:
    """Why a property does not apply to a model; empty if it does."""
    if law.id in subject.exemptions:
        return f"the model is exempt, {subject.exemptions[law.id].reason}"
    if missing := law.missing(subject):
        return "to offer it, " + " and ".join(offer.value for offer in missing)
    try:
        law.space(subject)
    except NotOffered as error:
        return str(error)
    return ""


def _told(law: Property, model: Subject, violated: Violated, *more: Line) -> Violated:
    details = explained(law, model, violated.case, violated.margin, *more)
    return Violated(law, model.name, violated.case, violated.margin, details=details)


def explained(
    law: Property, model: Subject, case: AnyCase, margin: float, *more: Line
) -> str:
    """The rule, the case and the model's numbers by term, as lines of text.

    Args:
        law: the property.
        model: asked for its numbers once more.
        case: the case.
        margin: of that case.
        *more: further lines, each a label and a text.
    """
    first, *others = law.documentation["Statement"].splitlines()
    lines = [
        ("rule", first),
        *(("", line) for line in others),
        *case_lines(case),
        *number_lines(numbers_of(model, case)),
        ("margin", f"{margin:.4g}, relative; below 0 violates the rule"),
        *more,
    ]
    return "\n".join(f"  {label:<9} {text}".rstrip() for label, text in lines)
