"""The vocabulary: what a state, a signal, a component and a vehicle are. Says nothing of how they behave."""
