"""Hosts by name: what the policy lists is reached through the proxy, and every refusal is data of the call that asked."""

import contextlib
import http.server
import shutil
import socket
import ssl
import subprocess
import threading
from pathlib import Path

import pytest
from server import Server

pytestmark = pytest.mark.skipif(not shutil.which("curl"), reason="curl is not installed")
#: The loopback is asked directly unless a program is told otherwise.
CURL = "curl -sS -m 20 --noproxy ''"


class Answer(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        text = "\n".join(f"{name}: {value}" for name, value in self.headers.items()).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *arguments) -> None:
        pass


@contextlib.contextmanager
def web(certificate: Path | None = None):
    """A server outside of the sandbox; its port."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    if certificate:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@contextlib.contextmanager
def serving(pithos: str, workspace: Path, *hosts: str):
    server = Server(pithos, workspace, "--hosts", ",".join(hosts))
    try:
        if "HTTPS_PROXY" not in server.text("run", command="env"):
            pytest.skip("no private loopback here")
        yield server
    finally:
        server.close()


def refusals(result: dict) -> dict[str, str]:
    return {row["subject"]: row["how_to_allow"] for row in result.get("denials", []) if row["call"] == "proxy"}


def test_what_is_listed_is_reached_and_nothing_else(pithos: str, workspace: Path) -> None:
    with web() as port, web() as other, serving(pithos, workspace, f"localhost:{port}", f"127.0.0.1:{port}") as server:
        good = server.call("run", command=f"{CURL} http://localhost:{port}/")
        assert good["structuredContent"]["status"] == 0, good
        text = good["content"][0]["text"]
        assert f"Host: localhost:{port}" in text and "Proxy" not in text, text
        for target in [f"localhost:{other}", f"127.0.0.1:{other}", "example.invalid:80", "169.254.169.254:80", "[::1]:80"]:
            result = server.tool("run", command=f"{CURL} http://{target}/ >/dev/null 2>&1; true")
            assert refusals(result) == {target: f'add "{target}" to hosts in the policy'}, (target, result)
            result = server.tool("run", command=f"{CURL} -x socks5h://j0:x@127.0.0.2:3128 http://{target}/ >/dev/null 2>&1; true")
            assert target in refusals(result), (target, result)
        assert not refusals(server.tool("run", command="true"))


def test_a_name_that_leads_inside_reaches_nothing(pithos: str, workspace: Path) -> None:
    with web() as port, serving(pithos, workspace, f"localhost:{port}") as server:
        result = server.tool("run", command=f"{CURL} http://localhost:{port}/ 2>&1")
        advice = refusals(result).get(f"localhost:{port}", "")
        assert f'"127.0.0.1:{port}" to hosts' in advice or f'"[::1]:{port}" to hosts' in advice, result


@pytest.mark.skipif(not shutil.which("openssl"), reason="openssl is not installed")
def test_tls_is_held_to_its_name(pithos: str, workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    certificate = tmp_path_factory.mktemp("tls") / "both.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    subprocess.run([*made, "-keyout", certificate, "-out", certificate.with_suffix(".crt")], check=True, capture_output=True)
    certificate.write_text(certificate.read_text() + certificate.with_suffix(".crt").read_text())
    with web(certificate) as port, serving(pithos, workspace, f"localhost:{port}", f"127.0.0.1:{port}") as server:
        good = server.call("run", command=f"{CURL} -k https://localhost:{port}/")
        assert f"Host: localhost:{port}" in good["content"][0]["text"], good
        result = server.tool("run", command=f"{CURL} -k --connect-to other.test:{port}:localhost:{port} https://other.test:{port}/ 2>&1")
        assert result["status"] != 0 and f"localhost:{port}" in refusals(result), result


def test_without_the_proxy_there_is_nobody(pithos: str, workspace: Path) -> None:
    with web() as port, serving(pithos, workspace, f"localhost:{port}", f"127.0.0.1:{port}") as server:
        result = server.tool("run", command=f"curl -sS -m 5 --noproxy '*' http://127.0.0.1:{port}/ 2>&1")
        assert result["status"] != 0
        result = server.tool("run", command="curl -sS -m 5 --noproxy '*' http://192.0.2.1/ >/dev/null 2>&1; true")
        assert any(row["subject"] == "192.0.2.1:80" for row in result["denials"]), result


def test_a_secret_of_the_server_reaches_its_host_and_no_program(pithos: str, workspace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    with web() as port:
        policy = tmp_path_factory.mktemp("policy") / "policy.toml"
        policy.write_text(f"""
read = ["/usr", "/bin", "/lib", "/lib64", "/etc", "/proc"]
write = ["$workspace", "$tmp"]
exec = ["/usr", "/bin", "/lib", "/lib64"]
environment = ["PATH"]
network = "loopback"
hosts = ["localhost:{port}", "127.0.0.1:{port}"]
[[headers]]
host = "localhost:{port}"
name = "Authorization"
variable = "TEST_API_TOKEN"
prefix = "Bearer "
""")
        server = Server(pithos, workspace, "--sandbox", str(policy), TEST_API_TOKEN="s3cret")
        try:
            assert "s3cret" not in server.text("run", command="env; cat /proc/*/environ 2>/dev/null")
            text = server.text("run", command=f"{CURL} -H 'Authorization: mine' http://localhost:{port}/")
            assert "Authorization: Bearer s3cret" in text and "mine" not in text, text
            assert "s3cret" not in server.text("run", command=f"{CURL} http://127.0.0.1:{port}/")
        finally:
            server.close()


def reachable(host: str) -> bool:
    try:
        socket.create_connection((host, 443), 5).close()
    except OSError:
        return False
    return True


@pytest.mark.skipif(not reachable("pypi.org"), reason="pypi.org cannot be reached")
def test_pip_installs_through_it(pithos: str, workspace: Path) -> None:
    with serving(pithos, workspace, "pypi") as server:
        script = "python3 -m venv v && v/bin/pip install -q six && v/bin/python -c 'import six; print(six.__name__)'"
        result = server.call("run", command=script, yield_ms=300_000)
        assert result["structuredContent"]["status"] == 0 and "six\n" in result["content"][0]["text"], result


@pytest.mark.skipif(not shutil.which("npm") or not reachable("registry.npmjs.org"), reason="npm or its registry cannot be reached")
def test_npm_installs_through_it(pithos: str, workspace: Path) -> None:
    with serving(pithos, workspace, "npm") as server:
        result = server.tool("run", command="npm install is-number && ls node_modules/is-number/package.json", yield_ms=300_000)
        assert result["status"] == 0, result
