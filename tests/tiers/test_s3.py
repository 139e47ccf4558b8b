"""A bucket as a tier, with moto's S3 server on loopback."""

import pytest
from fleet import tiers

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
