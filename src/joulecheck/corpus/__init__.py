"""The corpus: findings, where they are kept, and their replay.

A finding is a counterexample and its life. `SqlCorpus` keeps what campaigns find,
`Directory` what a repository has committed, and `CombinedCorpus` reads both.
"""

from joulecheck.corpus.combined import CombinedCorpus
from joulecheck.corpus.directory import Directory
from joulecheck.corpus.exchange import export_findings, import_findings
from joulecheck.corpus.finding import Acceptance, Finding, Status, utc_now
from joulecheck.corpus.replay import Outcome, Replayed, exit_code, record, replay
from joulecheck.corpus.sql import DEFAULT_URL, SqlCorpus
from joulecheck.corpus.store import Corpus, InMemoryCorpus

__all__ = [
    "DEFAULT_URL",
    "Acceptance",
    "CombinedCorpus",
    "Corpus",
    "Directory",
    "Finding",
    "InMemoryCorpus",
    "Outcome",
    "Replayed",
    "SqlCorpus",
    "Status",
    "exit_code",
    "export_findings",
    "import_findings",
    "record",
    "replay",
    "utc_now",
]
