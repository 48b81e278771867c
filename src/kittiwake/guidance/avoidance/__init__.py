"""What keeps away from obstacles: changes what is asked for by what range sensors see."""
