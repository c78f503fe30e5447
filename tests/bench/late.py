from pathlib import Path


async def measure_late(archive: Path, turns: int) -> None: ...
