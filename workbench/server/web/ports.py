"""The port of the server, and its address on this computer."""

from streamlit import config

from dpcore.errors import ParameterError

DEFAULT_PORT = 8501


def check_port() -> None:
    """Raise an error if Streamlit took another port because the default was in use.

    Nobody would look for the server there.

    Raises: ParameterError.
    """
    if (
        not config.is_manually_set("server.port")
        and config.get_option("server.port") != DEFAULT_PORT
    ):
        raise ParameterError(
            "port {port} is in use",
            remedy=(
                "stop the program that uses it, or start with another port: make app "
                "PORT=8502"
            ),
            port=DEFAULT_PORT,
        )


def local_address() -> str:
    """Return the address of the pages on this computer, with a slash at its end."""
    base = config.get_option("server.baseUrlPath").strip("/")
    return f"http://127.0.0.1:{config.get_option('server.port')}/{base and base + '/'}"
