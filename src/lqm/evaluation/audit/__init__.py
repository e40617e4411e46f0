"""What a set gives away of the records that it was made of: copies, gaps and attacks."""
