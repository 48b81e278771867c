"""Fields: what water carries or is, by place."""
