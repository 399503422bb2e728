"""The privacy gate before work on other machines: which of them may read the data."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterable, Sequence

from ground.errors import RefusedError
from ground.settings import RunSettings

__all__ = ["RULE", "check_machines"]

RULE = (
    "the agreements of PhysioNet and of the UMLS: only people who have signed them may have access to the data, on "
    "machines that they control"
)


def check_machines(addresses: Iterable[str], settings: RunSettings, licence_tier: str) -> None:
    """Refuse machines that may not read the data; nothing is sent here.

    Args:
        addresses: of machines, as names or IP addresses.
        settings: ``allow_remote_credentialed`` and ``allow_remote_reason``.
        licence_tier: every tier but ``open`` counts as credentialed.

    Raises:
        RefusedError: credentialed data, and a machine that is neither this one nor named, or no reason is given.
    """
    others = sorted({address for address in addresses if not _is_here(address)})
    if licence_tier == "open" or not others:
        return
    named = [network for entry in settings.allow_remote_credentialed for network in _networks(entry)]
    strange = [address for address in others if not _is_within(address, named)]
    if strange:
        strangers = ", ".join(strange)
        raise RefusedError(
            "credentialed data is not sent to machines that are not named",
            found=f"Ray on {strangers}",
            expected=f"this machine, or one that run.allow_remote_credentialed names. {RULE}",
            do="where an agreement covers these machines, set run.allow_remote_credentialed to their names, addresses "
            "or networks (10.1.2.0/24), and run.allow_remote_reason",
        )
    if not settings.allow_remote_reason.strip():
        raise RefusedError(
            f"no reason is given why credentialed data may go to {', '.join(others)}",
            expected=RULE,
            do="set run.allow_remote_reason to the agreement or the local rule that covers it",
        )


def _resolved(host: str) -> list[str]:
    try:
        entries = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []
    return sorted({str(entry[4][0]).partition("%")[0] for entry in entries})


def _networks(entry: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    try:
        return [ipaddress.ip_network(entry, strict=False)]
    except ValueError:
        return [ipaddress.ip_network(address) for address in _resolved(entry)]


def _is_within(host: str, networks: Sequence[ipaddress.IPv4Network | ipaddress.IPv6Network]) -> bool:
    addresses = [ipaddress.ip_address(address) for address in _resolved(host)]
    return bool(addresses) and all(any(address in network for network in networks) for address in addresses)


def _is_here(host: str) -> bool:
    """Tell whether a host is this machine: only its own addresses can be bound."""
    addresses = _resolved(host)
    return bool(addresses) and all(_can_bind(address) for address in addresses)


def _can_bind(address: str) -> bool:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return not ipaddress.ip_address(address).is_unspecified
