"""The vocabulary: what a state, a signal, a component and a vehicle are, not how they behave."""
