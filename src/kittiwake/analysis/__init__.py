"""What flights leave behind: logs, the files they are kept in, and the numbers drawn from them."""
