"""Which framework's callback `leveloff.LeveloffCallback` is."""

import sys
from typing import Any


def callback() -> Any:
    """The callback of the framework that this process uses. Raises ImportError when that is not clear."""
    has_transformers = "transformers" in sys.modules
    has_lightning = "lightning.pytorch" in sys.modules or "pytorch_lightning" in sys.modules
    if has_transformers == has_lightning:
        which = "both transformers and Lightning are" if has_transformers else "neither transformers nor Lightning is"
        raise ImportError(
            f"leveloff.LeveloffCallback is for the framework that is imported, and {which}: "
            "import it from leveloff.huggingface or from leveloff.lightning"
        )
    if has_transformers:
        from .huggingface import LeveloffCallback as HuggingFaceCallback

        return HuggingFaceCallback
    from .lightning import LeveloffCallback as LightningCallback

    return LightningCallback
