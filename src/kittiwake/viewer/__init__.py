"""The cockpit: flights live and replayed in a browser, and films of them."""
