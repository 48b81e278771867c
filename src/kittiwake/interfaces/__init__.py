"""Component interfaces: what each part of a vehicle takes and returns, a file each."""
