"""A bucket as a tier, with moto's S3 server on loopback."""

import subprocess
import sys

import pytest
from fleet import tiers

from samovar.tiers.fsspec_transport import FsspecTransport
from samovar.tiers.s3_transport import Credentials, S3Transport, find_credentials, signed_headers

pytest.importorskip("s3fs")
boto3 = pytest.importorskip("boto3")
server = pytest.importorskip("moto.server")

pytestmark = [pytest.mark.stress, pytest.mark.filterwarnings("default")]


@pytest.fixture
def bucket(monkeypatch):
    running = server.ThreadedMotoServer(port=0, verbose=False)
    running.start()
    host, port = running.get_host_and_port()
    for name, value in (
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"), ("AWS_ACCESS_KEY_ID", "key"), ("AWS_SECRET_ACCESS_KEY", "secret"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):  # fmt: skip
        monkeypatch.setenv(name, value)
    boto3.client("s3").create_bucket(Bucket="fleet")
    yield "s3://fleet/kernels"
    running.stop()


def test_a_bucket_is_a_tier_that_takes_three_requests(fleet, bucket):
    fleet.publish(address=bucket, cache_remote_timeout=60)
    assert fleet.work(address=bucket, cache_remote_timeout=60) == (3, 0)
    figures = tiers().tiers[0].figures
    assert (figures.requests, figures.rejected) == (3, 0)


def test_a_bucket_that_does_not_exist_has_nothing(fleet, bucket):
    assert fleet.work(address="s3://nowhere/kernels", cache_remote_timeout=60) == (0, 3)


@pytest.mark.parametrize("token", ["", "a/token+with=signs"])
@pytest.mark.parametrize("path", ["/bucket/1/name/manifests/0a", "/bucket/a%20space/%C3%A9t%C3%A9%2B1"])
@pytest.mark.parametrize("query", ["", "delimiter=%2F&encoding-type=url&list-type=2&prefix=a%2F"])
def test_requests_are_signed_as_botocore_signs_them(monkeypatch, token, path, query):
    auth = pytest.importorskip("botocore.auth")
    from botocore.awsrequest import AWSRequest
    from botocore.credentials import Credentials as TheirCredentials

    target = f"https://s3.eu-west-1.amazonaws.com{path}" + (f"?{query}" if query else "")
    theirs = AWSRequest("GET", target)
    auth.S3SigV4Auth(TheirCredentials("key", "secret", token or None), "s3", "eu-west-1").add_auth(theirs)
    time = theirs.headers["X-Amz-Date"]
    ours = signed_headers(Credentials("key", "secret", token, "eu-west-1"), "s3.eu-west-1.amazonaws.com", path, query, time)
    assert ours["authorization"] == theirs.headers["Authorization"]


def test_credentials_come_from_the_environment_or_the_profile_of_the_user(monkeypatch, tmp_path):
    for name in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY", "SESSION_TOKEN", "REGION", "DEFAULT_REGION", "PROFILE"):
        monkeypatch.delenv(f"AWS_{name}", raising=False)
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "config"))
    assert find_credentials() is None
    (tmp_path / "credentials").write_text("[default]\naws_access_key_id = a\naws_secret_access_key = b%c\n[sim]\n")
    (tmp_path / "config").write_text("[profile sim]\nregion = eu-west-1\n")
    assert find_credentials() == Credentials("a", "b%c", "", "us-east-1")
    monkeypatch.setenv("AWS_PROFILE", "sim")
    assert find_credentials() is None
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "y")
    monkeypatch.setenv("AWS_SESSION_TOKEN", "z")
    assert find_credentials() == Credentials("x", "y", "z", "eu-west-1")
    (tmp_path / "credentials").write_bytes(b"\xff\xfe no file of settings")
    (tmp_path / "config").write_text("no section\n")
    assert find_credentials() == Credentials("x", "y", "z", "us-east-1")


def test_long_listings_are_read_to_their_end_and_agree_with_s3fs(bucket):
    prefix = f"{bucket}/a folder"
    names = [f"n {number:04}+é" for number in range(1205)]
    client = boto3.client("s3")
    for name in names:
        client.put_object(Bucket="fleet", Key=f"kernels/a folder/m/{name}", Body=name.encode())
    client.put_object(Bucket="fleet", Key="kernels/a folder/m/below/x", Body=b"")
    ours, theirs = S3Transport(prefix, 10), FsspecTransport(prefix, 10)
    assert sorted(ours.names("m")) == sorted(theirs.names("m")) == sorted([*names, "below"])
    assert ours.read(f"m/{names[7]}") == theirs.read(f"m/{names[7]}") == names[7].encode()
    assert ours.read("m/missing") is theirs.read("m/missing") is None
    assert ours.names("missing") == theirs.names("missing") == []


def test_reading_imports_no_client_and_s3fs_reads_what_is_refused(bucket, monkeypatch):
    boto3.client("s3").put_object(Bucket="fleet", Key="kernels/m/file", Body=b"content")
    program = (
        "import sys; from samovar.tiers.transports import transport_to\n"
        f"tier = transport_to({bucket!r}, 10); print(tier.read('m/file'), 's3fs' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout == "b'content' False\n"
    refused = S3Transport(bucket, 10)
    refused._who = None
    assert refused.read("m/file") == b"content"
    assert refused.names("m") == ["file"]
