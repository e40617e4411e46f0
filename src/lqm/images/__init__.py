"""Images: sources, networks, augmentation, methods and evaluation."""
