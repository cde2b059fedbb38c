"""Functions of finished releases that read nothing else."""
