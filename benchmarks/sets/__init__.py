"""What is measured on condensed sets that no study makes: they are audited, or changed by hand."""
