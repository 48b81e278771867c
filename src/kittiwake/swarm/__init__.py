"""Flocking: behaviors that propose velocities, and radios between the vehicles."""

from kittiwake.core.registry import Registry, RegistryEntry
from kittiwake.core.specification import namespace

BEHAVIORS = Registry(
    "behaviors",
    "behavior",
    {
        "separation": RegistryEntry(
            "kittiwake.swarm.separation:Separation", "away from vehicles that are too close"
        ),
        "alignment": RegistryEntry(
            "kittiwake.swarm.alignment:Alignment", "mean velocity of the teammates"
        ),
        "cohesion": RegistryEntry(
            "kittiwake.swarm.cohesion:Cohesion", "towards the center of the flock"
        ),
        "targeting": RegistryEntry(
            "kittiwake.swarm.targeting:Targeting", "moves the center of the flock to a target"
        ),
        "informed-avoid": RegistryEntry(
            "kittiwake.swarm.informed_avoid:InformedAvoid",
            "away from known obstacles, and from vehicles on a collision course",
        ),
        "olfati-saber": RegistryEntry(
            "kittiwake.swarm.olfati_saber:OlfatiSaber",
            "lattice of equal distances that moves as one (Olfati-Saber 2006)",
        ),
        "formation": RegistryEntry(
            "kittiwake.swarm.formation:Formation", "position in a line, wedge, circle or grid"
        ),
        "follow-leader": RegistryEntry(
            "kittiwake.swarm.follow_leader:FollowLeader", "at an offset from the leader"
        ),
    },
)

RADIOS = Registry(
    "radios",
    "radio",
    {
        "ideal": RegistryEntry(
            "kittiwake.swarm.ideal_radio:IdealRadio", "all messages, within a range"
        ),
        "lossy": RegistryEntry(
            "kittiwake.swarm.lossy_radio:LossyRadio",
            "fading, latency, and a channel of limited bandwidth",
        ),
    },
    entry_keys=("rate_hz",),
)

__getattr__, __dir__ = namespace(
    __name__,
    BEHAVIORS,
    RADIOS,
    interfaces={
        "AbstractBehavior": "kittiwake.interfaces.behavior",
        "AbstractRadio": "kittiwake.world.radio",
    },
)
