"""Contact records: solids, decks, landing gear, and the interface of contact engines."""
