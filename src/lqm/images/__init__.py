"""Pictures: sources, networks, augmentation, methods and evaluation."""
