"""Published results beside ours: data, measures, verdicts and the report."""
