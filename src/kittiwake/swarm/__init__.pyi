"""Flocking: behaviors that propose velocities, and radios between the vehicles.

Written by scripts/stubs from the registries.
"""

from typing import Literal

from kittiwake.core.registry import Registry
from kittiwake.core.specification import ComponentSpec, Vector
from kittiwake.interfaces.behavior import AbstractBehavior as AbstractBehavior
from kittiwake.world.radio import AbstractRadio as AbstractRadio

BEHAVIORS: Registry
RADIOS: Registry

class Alignment(ComponentSpec):
    """Mean velocity of the teammates."""

    def __init__(
        self,
        *,
        limit_mps: float = 1.0,
        weight: float = 1.0,
        gain: float = 0.5,
        limit_kn: float = ...,
    ) -> None: ...

class Cohesion(ComponentSpec):
    """Towards the center of the flock."""

    def __init__(
        self,
        *,
        limit_mps: float = 1.0,
        weight: float = 1.0,
        gain_hz: float = 0.3,
        limit_kn: float = ...,
    ) -> None: ...

class FollowLeader(ComponentSpec):
    """At an offset from the leader."""

    def __init__(
        self,
        *,
        limit_mps: float = 1.0,
        weight: float = 1.0,
        offset_world_m: Vector = ...,
        gain_hz: float = 0.5,
        limit_kn: float = ...,
        offset_world_ft: Vector = ...,
    ) -> None: ...

class Formation(ComponentSpec):
    """Position in a line, wedge, circle or grid."""

    def __init__(
        self,
        *,
        limit_mps: float = 1.0,
        weight: float = 1.0,
        shape: Literal["line", "column", "wedge", "circle", "grid"] = "wedge",
        spacing_m: float = 3.0,
        heading_rad: float = 0.0,
        gain_hz: float = 0.6,
        feed_forward: float = 0.5,
        limit_kn: float = ...,
        spacing_ft: float = ...,
        heading_deg: float = ...,
    ) -> None: ...

class IdealRadio(ComponentSpec):
    """All messages, within a range."""

    def __init__(
        self, *, range_m: float = 50.0, most: int = 16, rate_hz: float = ..., range_ft: float = ...
    ) -> None: ...

class InformedAvoid(ComponentSpec):
    """Away from known obstacles, and from vehicles on a collision course."""

    def __init__(
        self,
        *,
        limit_mps: float = 1.0,
        weight: float = 1.0,
        clearance_m: float = 1.5,
        horizon_s: float = 2.0,
        gain_hz: float = 1.0,
        limit_kn: float = ...,
        clearance_ft: float = ...,
    ) -> None: ...

class LossyRadio(ComponentSpec):
    """Fading, latency, and a channel of limited bandwidth."""

    def __init__(
        self,
        *,
        range_m: float = 50.0,
        most: int = 16,
        loss: float = 0.0,
        fade_distance_m: float | None = ...,
        path_loss_exponent: float = 2.0,
        latency_s: float = 0.0,
        memory_s: float = 0.5,
        bandwidth_bps: float | None = ...,
        message_bytes: float = 64.0,
        rate_hz: float = ...,
        range_ft: float = ...,
        fade_distance_ft: float | None = ...,
    ) -> None: ...

class OlfatiSaber(ComponentSpec):
    """Lattice of equal distances that moves as one (Olfati-Saber 2006)."""

    def __init__(
        self,
        *,
        limit_mps: float = 1.0,
        weight: float = 1.0,
        distance_m: float = 3.0,
        reach: float = 1.2,
        target_world_m: Vector | None = ...,
        position_gain_hz2: float = 0.1,
        velocity_gain_hz: float = 0.6,
        response_s: float = 0.5,
        limit_kn: float = ...,
        distance_ft: float = ...,
        target_world_ft: Vector | None = ...,
    ) -> None: ...

class Separation(ComponentSpec):
    """Away from vehicles that are too close."""

    def __init__(
        self,
        *,
        limit_mps: float = 1.0,
        weight: float = 1.0,
        distance_m: float = 3.0,
        gain_m2ps: float = 1.0,
        limit_kn: float = ...,
        distance_ft: float = ...,
    ) -> None: ...

class Targeting(ComponentSpec):
    """Moves the center of the flock to a target."""

    def __init__(
        self,
        *,
        limit_mps: float = 1.0,
        weight: float = 1.0,
        target_world_m: Vector = ...,
        gain_hz: float = 0.5,
        limit_kn: float = ...,
        target_world_ft: Vector = ...,
    ) -> None: ...
