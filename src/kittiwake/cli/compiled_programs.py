"""Cache of compiled programs, for all commands that fly."""

import os
from pathlib import Path


def keep_compiled() -> None:
    """Cache compiled programs in the user's cache folder, unless JAX has another one."""
    import jax

    if os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return
    cache = (
        Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kittiwake" / "compiled"
    )
    jax.config.update("jax_compilation_cache_dir", str(cache))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.2)
