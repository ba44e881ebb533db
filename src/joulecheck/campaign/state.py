"""Where a named campaign stopped, so that it can go on."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

import attrs

from joulecheck.errors import CorpusError, InvalidSetting

FORMAT: Final = 1
FOLDER: Final = Path(".joulecheck") / "campaigns"


def _check_name(_: object, __: object, name: str | None) -> None:
    if name is not None and not re.fullmatch(r"[\w][\w.-]*", name):
        msg = f"a campaign's name must be letters, digits, dots and hyphens, got {name!r}"
        raise InvalidSetting(msg)


@attrs.frozen
class CampaignState:
    """The seed of a campaign and its next epoch. Without a name it is not kept."""

    name: str | None = attrs.field(validator=_check_name)
    seed: int
    epoch: int

    @classmethod
    def load(cls, name: str, folder: Path = FOLDER) -> CampaignState | None:
        """The state under that name, or None if there is none.

        Raises:
            InvalidSetting: the name is not one.
            CorpusError: the file is damaged or of another format.
        """
        _check_name(None, None, name)
        file = folder / f"{name}.json"
        if not file.exists():
            return None
        try:
            data = json.loads(file.read_text(encoding="utf-8"))
            if data["format"] != FORMAT:
                msg = f"{file}: format must be {FORMAT}, got {data['format']!r}"
                raise CorpusError(msg)
            return cls(name, int(data["seed"]), int(data["epoch"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            msg = f"{file} is damaged ({error!r}): delete it to start the campaign anew"
            raise CorpusError(msg) from error

    def save(self, folder: Path = FOLDER) -> None:
        """Write it whole, then rename it into place. Does nothing without a name."""
        if self.name is None:
            return
        folder.mkdir(parents=True, exist_ok=True)
        data = {"format": FORMAT, "seed": self.seed, "epoch": self.epoch}
        partial = folder / f".{self.name}.part"
        partial.write_text(json.dumps(data) + "\n", encoding="utf-8")
        partial.replace(folder / f"{self.name}.json")
