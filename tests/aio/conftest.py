"""Every test of this folder runs on both backends."""

import pytest


@pytest.fixture(params=["asyncio", "trio"])
def anyio_backend(request):
    """What anyio's plugin runs coroutine tests and fixtures on."""
    return request.param
