"""What knows no statistics: compilation, variates, threads, arrays, arguments."""
