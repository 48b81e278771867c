"""The AprilTags of the family 36h11 that decks bear, by which cameras tell them apart."""

# that the family has, numbered from 0
TAGS = 587
# of a deck's smaller side, without the white around it
TAG_SHARE = 0.8
