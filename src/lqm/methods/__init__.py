"""What methods are put together from; knows neither images nor graphs."""
