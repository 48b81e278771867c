"""How vehicles fly together: what each wants because of the others, and how it hears of them."""

from kittiwake.core.registry import Registry, RegistryEntry

BEHAVIORS = Registry(
    "behaviors",
    "behavior",
    {
        "separation": RegistryEntry(
            "kittiwake.swarm.separation:Separation", "away from those that are too near"
        ),
        "alignment": RegistryEntry(
            "kittiwake.swarm.alignment:Alignment", "at the velocity of the others"
        ),
        "cohesion": RegistryEntry(
            "kittiwake.swarm.cohesion:Cohesion", "towards the middle of the others"
        ),
        "targeting": RegistryEntry(
            "kittiwake.swarm.targeting:Targeting", "brings the middle of the flock to a place"
        ),
        "informed-avoid": RegistryEntry(
            "kittiwake.swarm.informed_avoid:InformedAvoid",
            "aside from known obstacles, and from others whose way crosses one's own",
        ),
        "olfati-saber": RegistryEntry(
            "kittiwake.swarm.olfati_saber:OlfatiSaber",
            "a lattice of equal distances that moves as one (Olfati-Saber 2006)",
        ),
        "formation": RegistryEntry(
            "kittiwake.swarm.formation:Formation", "one's own place in a line, a wedge or a circle"
        ),
        "follow-leader": RegistryEntry(
            "kittiwake.swarm.follow_leader:FollowLeader", "at an offset from the vehicle that leads"
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
            "messages that fade, come late, and are too many for the channel",
        ),
    },
)
