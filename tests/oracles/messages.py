"""What a command says beside what it was asked for."""


def leave_out_compiling(said):
    """Leave out that loops are compiled: whether they are just now depends on the tests that this process has run."""
    notes = ("compiling loops for this machine", "compiled in ")
    return "".join(line for line in said.splitlines(keepends=True) if not line.startswith(notes))
