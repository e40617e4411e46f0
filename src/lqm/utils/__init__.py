"""What every floor uses: errors, names, files, settings."""
