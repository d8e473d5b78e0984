"""The files of the demo's repository and its changes. Data: nothing here is imported."""
