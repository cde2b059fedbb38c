"""Settings: where a deployment keeps its ledger and its key."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from dpcore.errors import ParameterError
from workbench.store.settings import (
    LOOPBACK_HOSTS,
    PACKAGES_FOLDER,
    Settings,
    is_loopback,
    read_settings,
    secrets,
    settings_from,
)


def test_default_is_a_file_in_the_checkout() -> None:
    """A fresh clone would need configuration before it starts."""
    settings = settings_from({})
    assert settings.data_dir == PACKAGES_FOLDER / "var"
    assert settings.database_url == f"sqlite:///{PACKAGES_FOLDER}/var/workbench.sqlite"
    assert settings.key is None


def test_data_directory_is_absolute(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Starting the app from another folder would open another, empty ledger."""
    monkeypatch.chdir(tmp_path)
    settings = settings_from({"WORKBENCH_DATA_DIR": "kept"})
    assert settings.database_url == f"sqlite:///{tmp_path}/kept/workbench.sqlite"


@pytest.mark.parametrize("scheme", ["postgres", "postgresql", "postgresql+psycopg"])
def test_postgres_urls_name_the_driver(scheme: str) -> None:
    """The URL that hosts hand out would not be understood."""
    settings = settings_from({"DATABASE_URL": f"{scheme}://me:pw@db/ledger"})
    assert settings.database_url == "postgresql+psycopg://me:pw@db/ledger"


@pytest.mark.parametrize(
    "url",
    [
        "sqlite://",
        "sqlite:///:memory:",
        "sqlite:///here.sqlite",
        "mysql://me:secret-word@db/x",
        "x",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    """A ledger in memory, in the folder of the day or without row locks would forget or
    overspend.
    """
    with pytest.raises(ParameterError) as error:
        settings_from({"DATABASE_URL": url})
    assert "secret-word" not in str(error.value)


def test_key_is_64_hexadecimal_digits() -> None:
    """A short key, or a word taken for one, would seal the ledger badly."""
    assert settings_from({"WORKBENCH_KEY": "ab" * 32}).key == b"\xab" * 32
    for text in ("ab" * 31, "ab" * 33, "my secret-word"):
        with pytest.raises(ParameterError) as error:
            settings_from({"WORKBENCH_KEY": text})
        assert text not in str(error.value)


def test_limits_are_numbers() -> None:
    """A slip of the pen would close the server, or open it without any limit."""
    settings = settings_from(
        {
            "WORKBENCH_RUNS": "3",
            "WORKBENCH_TABLE_MB": "500",
            "WORKBENCH_IDLE_MINUTES": "0.5",
        },
    )
    assert (settings.runs, settings.table_bytes, settings.idle_minutes) == (
        3,
        500_000_000,
        0.5,
    )
    assert settings_from({}).runs >= 1
    assert settings_from({"WORKBENCH_THREADS": "8"}).threads == 8
    for end in ("RUNS", "TABLES", "TABLE_MB", "IDLE_MINUTES", "THREADS"):
        name = f"WORKBENCH_{end}"
        for text in ("0", "-1", "many", "nan", "inf"):
            with pytest.raises(ParameterError, match=f"{name} must be of the form > 0"):
                settings_from({name: text})


def test_the_public_root_is_one_of_its_names() -> None:
    """The address of every link would be refused, until the same name is written a
    second time.
    """
    settings = settings_from(
        {
            "WORKBENCH_ADDRESS": " https://Bench.example.org:8443/a/~/+/ ",
            "WORKBENCH_HOSTS": "b.example, ,",
        },
    )
    assert settings.address == "https://Bench.example.org:8443/a/~/+"
    assert settings.hosts == (*LOOPBACK_HOSTS, "b.example", "bench.example.org")
    assert settings_from({}).address == ""
    assert settings_from({}).frames == "none"
    assert settings_from({"WORKBENCH_FRAMES": "Self"}).frames == "self"
    for text in (
        "bench.example.org",
        "ftp://a",
        "https://",
        "https://a b",
        "https://a/<b>",
        "https://a:0",
        "https://a:99999",
        "https://a/?q",
        "https://u@a",
        "https://a/#x",
    ):
        with pytest.raises(
            ParameterError, match="WORKBENCH_ADDRESS must be of the form"
        ):
            settings_from({"WORKBENCH_ADDRESS": text})
    with pytest.raises(
        ParameterError, match="WORKBENCH_FRAMES must be of the form none, self"
    ):
        settings_from({"WORKBENCH_FRAMES": "https://a.example"})


@pytest.mark.parametrize(
    ("address", "here"),
    [
        ("http://127.0.0.1:8501/share/", True),
        ("http://localhost:8501/share/", True),
        ("http://[::1]:8501/share/", True),
        ("http://a.localhost/share/", True),
        ("http://127.9.0.1", True),
        ("https://bench.example.org/share/", False),
        ("https://127.0.0.1.example.org/", False),
        ("http://192.168.1.7:8501/share/", False),
    ],
)
def test_addresses_of_this_computer_alone(address: str, here: bool) -> None:
    """A link that nobody else can open would be handed out without a word, or every
    other with a warning.
    """
    assert is_loopback(address) is here


def test_secrets_are_not_printed() -> None:
    """A log of the settings would hold the password or the key."""
    shown = repr(
        Settings(database_url="postgresql://me:secret-word@db/x", key=b"k" * 32)
    )
    assert "secret-word" not in shown
    assert "kkk" not in shown


def test_secrets_file(
    monkeypatch: pytest.MonkeyPatch, write_secrets: Callable[[str], None]
) -> None:
    """A secrets.toml with a typing error would silently open an empty ledger, and ask
    nobody to sign in.
    """
    monkeypatch.setenv("DATABASE_URL", "")  # Streamlit sets it, and this takes it back
    assert dict(secrets()) == {}
    write_secrets('DATABASE_URL = "postgresql://db/x"\n[other]\nname = 1\n')
    assert read_settings.__wrapped__().database_url == "postgresql+psycopg://db/x"
    write_secrets("DATABASE_URL = ")
    with pytest.raises(ParameterError, match="cannot be read"):
        secrets()


def test_what_is_secret_leaves_the_environment(
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    write_secrets: Callable[[str], None],
) -> None:
    """Each process that the server starts would hold its key, and the password of its
    database.
    """
    url = f"sqlite:///{tmp_path}/ledger.sqlite"
    for name, value in {"WORKBENCH_KEY": "ab" * 32, "DATABASE_URL": url}.items():
        monkeypatch.setenv(name, value)
    settings = read_settings.__wrapped__()
    assert (settings.key, settings.database_url) == (b"\xab" * 32, url)
    assert not {"WORKBENCH_KEY", "DATABASE_URL"} & {*os.environ}
    write_secrets(f'DATABASE_URL = "{url}"\nWORKBENCH_KEY = "{"cd" * 32}"\n')
    assert read_settings.__wrapped__().key == b"\xcd" * 32
    write_secrets(f'WORKBENCH_KEY = "{"ef" * 32}"\n')
    secrets()
    assert not {"WORKBENCH_KEY", "DATABASE_URL"} & {*os.environ}
