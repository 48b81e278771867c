"""Water waves: regular waves, and irregular seas by their spectra."""
