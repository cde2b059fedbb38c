"""The port that the server listens on."""

from streamlit import config

from dpcore.errors import ParameterError

USUAL = 8501


def check_port() -> None:
    """Refuse the port that Streamlit took because the usual one is in use: nobody would
    look there.

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
