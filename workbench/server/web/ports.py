"""The port of the server."""

from streamlit import config

from dpcore.errors import ParameterError

USUAL = 8501


def check_port() -> None:
    """Refuse another port that Streamlit took because the usual one was in use.

    Nobody would look for the server there.

    Raises: ParameterError.
    """
    if (
        not config.is_manually_set("server.port")
        and config.get_option("server.port") != USUAL
    ):
        raise ParameterError(
            "port {port} is in use",
            remedy=(
                "stop the program that uses it, or start with another port: make app "
                "PORT=8502"
            ),
            port=USUAL,
        )
