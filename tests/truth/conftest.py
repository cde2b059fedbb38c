"""Pages of the truth suite have a ledger of their own, as those of tests/pages."""

from tests.pages.conftest import own_ledger as own_ledger
from tests.truth.figures import marking as marking
