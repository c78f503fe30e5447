from __future__ import annotations

import pytest

from tests.state.conversation import Conversation


@pytest.fixture
def talk() -> Conversation:
    return Conversation()
