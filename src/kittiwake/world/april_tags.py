"""AprilTags of the family 36h11 on decks, by which cameras identify them."""

# size of the family, numbered from 0
TAGS = 587
# share of a deck's smaller side, without the white margin
TAG_SHARE = 0.8
