"""The privacy gate: credentialed text goes to a language model on this machine, or to one that the user has named."""

from __future__ import annotations

import ipaddress
import re
import socket
from dataclasses import dataclass
from urllib.parse import SplitResult, urlsplit

from ground.errors import RefusedError, UsageError
from ground.lm.settings import LmSettings

__all__ = ["RULE", "Destination", "cloud_model", "destination"]

RULE = (
    "PhysioNet (24 September 2025): credentialed data may not be shared with third parties through APIs; "
    "local language models are strongly recommended"
)
# Ollama answers on this machine for models that it runs on its own servers (its documentation, "Cloud models").
CLOUD_MODEL = re.compile(r"[:-]cloud$", re.IGNORECASE)


@dataclass(frozen=True)
class Destination:
    """Where requests go.

    Attributes:
        base_url: to connect to.
        loopback: whether that is this machine.
        guarded: whether the text is credentialed.
    """

    base_url: str
    loopback: bool
    guarded: bool = True

    @property
    def proxied(self) -> bool:
        """Whether a proxy of the environment may be used: never one that could read the text."""
        return not self.loopback and (not self.guarded or self.base_url.lower().startswith("https:"))


def destination(settings: LmSettings, licence_tier: str) -> Destination:
    """Return where requests may go, or refuse; nothing is sent and no connection is opened here.

    Every tier but ``open`` counts as credentialed.

    Raises:
        RefusedError: credentialed input and an endpoint that is not this machine and was not named, with a reason.
        UsageError: the endpoint is no http(s) URL, or carries a user name or password.
    """
    parts = _split(settings.endpoint)
    host = parts.hostname or ""
    addresses = _addresses(host)
    loopback = bool(addresses) and all(_is_loopback(address) for address in addresses)
    if parts.scheme == "https" and host != "localhost" and not _is_address(host):
        # The client resolves the name again, for its certificate, and a name server could answer differently.
        loopback = False
    if licence_tier != "open":
        if not loopback:
            _require_named(settings, host)
        elif CLOUD_MODEL.search(settings.model.strip()) and host not in settings.allow_remote_credentialed:
            raise cloud_model(settings.model, host)
    url = _rebuilt(parts, host, addresses) if loopback else settings.endpoint
    return Destination(url, loopback, guarded=licence_tier != "open")


def cloud_model(model: str, host: str) -> RefusedError:
    """Return the refusal of a model that a server on this machine passes on to others."""
    return _refused(f"the model {model} runs on other servers", host)


def _split(endpoint: str) -> SplitResult:
    try:
        parts = urlsplit(endpoint)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        usable = False
    # The value itself is not repeated: it may hold a password.
    if not usable:
        raise UsageError("endpoint is no URL", expected="such as http://127.0.0.1:8000/v1")
    if parts.username or parts.password or parts.query:
        raise UsageError(
            "endpoint holds a user name, a password or a query",
            expected="scheme, host, port and path only",
            do="put the key into an environment variable and its name into api_key_env",
        )
    return parts


def _addresses(host: str) -> list[str]:
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    # IPv4 first: a server that was told "0.0.0.0" or "127.0.0.1" does not listen on ::1.
    return sorted({str(entry[4][0]) for entry in entries}, key=lambda address: (":" in address, address))


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return False
    return True


def _is_loopback(text: str) -> bool:
    address = ipaddress.ip_address(text.partition("%")[0])
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


def _rebuilt(parts: SplitResult, host: str, addresses: list[str]) -> str:
    """Write the URL anew from what was checked, so that no other reading of it, or of the name, is possible later.

    A name is replaced by its address: asked again, a name server could answer otherwise. ``localhost`` stays (RFC
    6761: always this machine; it may listen on either address).
    """
    pinned = host if host == "localhost" else addresses[0]
    written = f"[{pinned}]" if ":" in pinned else pinned
    return f"{parts.scheme}://{written}{f':{parts.port}' if parts.port else ''}{parts.path}"


def _require_named(settings: LmSettings, host: str) -> None:
    named = {name.lower() for name in settings.allow_remote_credentialed}
    if host.lower() not in named:
        raise _refused(f"the endpoint {host} is not this machine", host)
    if not settings.allow_remote_reason.strip():
        raise RefusedError(
            f"no reason is given why credentialed text may go to {host}",
            expected=RULE,
            do="set allow_remote_reason to the agreement or the local rule that covers it",
        )


def _refused(what: str, host: str) -> RefusedError:
    return RefusedError(
        f"credentialed text is not sent: {what}",
        found=f"endpoint host {host}",
        expected=f"a loopback address (127.0.0.0/8, ::1, localhost). {RULE}",
        do=(
            "serve a model on this machine (vLLM, SGLang, Ollama, `transformers serve`), or, where an agreement covers "
            f'this endpoint, set allow_remote_credentialed = ["{host}"] and allow_remote_reason = "..."'
        ),
    )
