"""Tokens and keys that are known by their form, as vendors document it, where the scanner has no rule. Data.

Each has a start of its own that nothing else has, so it is found wherever it stands. Times of the rules add up on every
text with a long run of characters, so a rule that the scanner has too is not repeated here.
"""

from __future__ import annotations

from gitmem.typed import NamedTuple

_HEX_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


class VendorRule(NamedTuple):
    """One form. ``pattern`` is tried where the text holds ``hint``, as it is written; all that it matches is secret.

    Compiled when it is first needed: most texts need none of them. A pattern that begins with what it looks for is
    quick; one that begins with many characters is not.
    """

    name: str
    hint: str
    pattern: str


def _row(name: str, hint: str, pattern: str) -> VendorRule:
    return VendorRule(name, hint, pattern)


def _start(begins: str, rest: str) -> str:
    """Return the pattern of what begins with ``begins``, and not in the middle of a word."""
    return rf"{begins}(?<![A-Za-z0-9_-]{begins}){rest}"


VENDOR_RULES = (
    _row("adafruit-key", "aio_", _start("aio_", r"[A-Za-z0-9]{28}")),
    _row("adobe-secret", "p8e-", _start("p8e-", r"[A-Za-z0-9]{32}")),
    _row("airtable-token", "pat", _start("pat", r"[A-Za-z0-9]{14}\.[0-9a-f]{64}")),
    _row("alibaba-key-id", "LTAI", _start("LTAI", r"[A-Za-z0-9]{17,21}(?!\w)")),
    _row("asana-token", ":", r":(?<=\d{15}:)[0-9a-f]{32}(?!\w)"),
    _row("azure-signature", "sig=", _start("sig=", r"[A-Za-z0-9%+/]{40,}(?:%3[Dd]|=)?")),
    _row("bitbucket-token", "ATBB", _start("ATBB", r"[A-Za-z0-9]{32}")),
    _row("brevo-key", "sib-", r"x(?:key|smtp)sib-[0-9a-f]{64}-\w{16}"),
    _row("circleci-token", "CCIPAT_", _start("CCIPAT_", r"\w{22}_[0-9a-f]{40}")),
    _row("contentful-token", "CFPAT-", _start("CFPAT-", r"[\w-]{43}")),
    _row("discord-token", ".", r"\.[\w-]{6}\.(?<=[\w-]{23}\.[\w-]{6}\.)(?=[A-Za-z_-]*\d)[\w-]{27,45}(?![\w-])"),
    _row("discord-webhook", "/api/webhooks/", r"api/webhooks/\d{17,20}/[\w-]{60,}"),
    _row("dropbox-token", "sl.", _start(r"sl\.", r"(?:u\.)?[\w-]{130,}")),
    _row("duffel-token", "duffel_", _start("duffel_", r"live_[\w-]{43}")),
    _row("easypost-key", "EZAK", _start("EZAK", r"[A-Za-z0-9]{54}")),
    _row("facebook-token", "EAA", _start("EAA", r"[A-Za-z0-9]{90,}")),
    _row("flutterwave-key", "FLWSECK", _start("FLWSECK", r"(?:_TEST)?-[0-9a-zA-Z]{32}-X")),
    _row("fly-token", "fo1_", _start("fo1_", r"[\w-]{43}")),
    _row("frameio-token", "fio-u-", _start("fio-u-", r"[\w-]{64}")),
    _row("gitea-token", "gitea_", _start("gitea_", r"[A-Za-z0-9]{40}")),
    _row("google-access-token", "ya29.", _start(r"ya29\.", r"[\w-]{60,}")),
    _row("infracost-key", "ico-", _start("ico-", r"[A-Za-z0-9]{32}")),
    _row("intra42-secret", "s-s4t2", _start("s-s4t2", r"(?:ud|af)-[0-9a-f]{64}")),
    _row("jfrog-key", "AKCp", _start("AKCp", r"\d[A-Za-z0-9]{60,}")),
    _row("jfrog-reference-token", "cmVmdGtuO", _start("cmVmdGtuO", r"[A-Za-z0-9]{50,}")),
    _row("launchdarkly-key", "api-", _start("api-", _HEX_UUID)),
    _row("launchdarkly-key", "sdk-", _start("sdk-", _HEX_UUID)),
    _row("nuget-key", "oy2", _start("oy2", r"[a-z0-9]{43}")),
    _row("openshift-token", "sha256~", _start("sha256~", r"[\w-]{43}")),
    _row(
        "paypal-token",
        "access_token$",
        _start(r"access_token\$", r"(?:production|sandbox)\$[0-9a-z]{16}\$[0-9a-f]{32}"),
    ),
    _row("pinecone-key", "pcsk_", _start("pcsk_", r"\w{60,}")),
    _row("plaid-token", "access-", _start("access-", rf"(?:sandbox|development|production)-{_HEX_UUID}")),
    _row("planetscale-token", "pscale_", _start("pscale_", r"(?:tkn|pw|oauth)_[\w=.-]{32,64}")),
    _row("prefect-token", "pn", _start("pn", r"[ub]_[A-Za-z0-9]{36}")),
    _row("readme-key", "rdme_", _start("rdme_", r"[a-z0-9]{70}")),
    _row("render-key", "rnd_", _start("rnd_", r"[A-Za-z0-9]{28,}")),
    _row("shippo-token", "shippo_", _start("shippo_", r"(?:live|test)_[0-9a-f]{40}")),
    _row("shopify-token", "shp", _start("shp", r"(?:ca|pa|ss|at)_[0-9a-fA-F]{32}")),
    _row("sk-key", "sk-", _start("sk-", r"(?:[0-9a-f]{32}|[0-9a-zA-Z]{48})(?![\w-])")),
    _row("square-token", "sq0", _start("sq0", r"(?:atp|csp)-[\w-]{22,43}")),
    _row("tailscale-key", "tskey-", _start("tskey-", r"[a-z]+-[A-Za-z0-9]{10,}-[A-Za-z0-9]{20,}")),
    _row("teams-webhook", "/webhookb2/", rf"webhookb2/[\w@-]{{30,90}}/IncomingWebhook/\w{{32}}/{_HEX_UUID}"),
    _row("tencent-key-id", "AKID", _start("AKID", r"[A-Za-z0-9]{32}(?!\w)")),
    _row("terraform-token", ".atlasv1.", r"\.atlasv1\.(?<=[A-Za-z0-9]{14}\.atlasv1\.)[\w=-]{60,70}"),
    _row("twilio-key", "SK", _start("SK", r"[0-9a-f]{32}(?!\w)")),
    _row("typeform-token", "tfp_", _start("tfp_", r"[\w.=-]{40,59}")),
    _row("vercel-token", "vercel_", _start("vercel_", r"[a-z_]{1,20}_\w{16,}")),
    _row("xata-key", "xau_", _start("xau_", r"[A-Za-z0-9]{36,}")),
    _row("zhipu-key", ".", r"\.(?<=[0-9a-f]{32}\.)(?=[a-z0-9]*[A-Z])[A-Za-z0-9]{16}(?!\w)"),
    _row(
        "private-key",
        "PRIVATE KEY",  # indented, quoted or behind \\n, too; the scanner takes those at a line's beginning
        r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|[>|\"',+]){1,80}"
        r"(?:[A-Za-z-]{1,20}: [^\n]{0,200}\s{1,40}){0,4}[A-Za-z0-9+/=]{16,}[^-]{0,20000}",
    ),
    _row("putty-key", "Private-Lines", _start("Private-Lines", r": ?\d+\s+(?:[ >\t]*[\w+/=]{1,64}\s+){1,60}")),
)
"""The rules, by name."""
