"""What every other folder uses: checks of arguments, threads, files, optional libraries, values with parameters."""
