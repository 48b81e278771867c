"""MAVLink: vehicles of a live flight as systems that ground stations and programs command."""
