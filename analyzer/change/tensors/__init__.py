"""What a function does to the tensors that it is handed."""
