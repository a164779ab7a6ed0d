"""What only the inside knows, and how often it is asked: the cost is bounded and measured."""

from typing import Any, Dict, NamedTuple, Optional


class Options(NamedTuple):
    """What `leveloff.configure` can change."""

    every: int = 10
    tensors: Optional[bool] = None
    shapes: bool = False
    trim_probe: bool = False
    budget: float = 0.002


class Inside:
    """The facts of the inside."""

    def __init__(self, options: Options, is_fork_child: bool) -> None:
        pass

    def look(self, calls: int, now: float) -> Dict[str, Any]:
        """What is to be told with this step: mostly nothing."""
        return {}
