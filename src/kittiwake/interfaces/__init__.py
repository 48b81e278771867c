"""Component interfaces, one per file: what each part of a vehicle takes and returns."""
