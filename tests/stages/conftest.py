"""What tests of the stages share."""

import pytest

from termsieve.cli import run


@pytest.fixture
def typed(capsys):
    """Type a command: its exit code, standard output and standard error."""

    def type_(*arguments):
        code = run([str(one) for one in arguments])
        said = capsys.readouterr()
        return code, said.out, said.err

    return type_
