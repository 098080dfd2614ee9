"""What becomes of a framework's call: dataset → `Queries` → numbers → what the framework expects."""
