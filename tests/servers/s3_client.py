"""The few S3 calls that tell whether a server takes writes: a listening port does not."""

import time

import boto3
import botocore.config
import botocore.exceptions

ACCESS_KEY = "test"
SECRET_KEY = "testsecret"
REGION = "us-east-1"


def facts(url, bucket):
    """What a test needs to reach the bucket; the names are those of the ready line."""
    return {
        "url": url,
        "bucket": bucket,
        "region": REGION,
        "access_key": ACCESS_KEY,
        "secret_key": SECRET_KEY,
    }


def wait_until_it_stores(url, bucket, seconds, still_alive):
    client = boto3.client(
        "s3",
        endpoint_url=url,
        aws_access_key_id=ACCESS_KEY,
        aws_secret_access_key=SECRET_KEY,
        region_name=REGION,
        config=botocore.config.Config(
            s3={"addressing_style": "path"},
            connect_timeout=2,
            read_timeout=20,
            retries={"total_max_attempts": 1},
        ),
    )
    end = time.monotonic() + seconds
    last = None
    while time.monotonic() < end and still_alive():
        try:
            _create(client, bucket)
            client.put_object(Bucket=bucket, Key=".ready", Body=b"ready")
            client.delete_object(Bucket=bucket, Key=".ready")
            return True
        except (botocore.exceptions.BotoCoreError, botocore.exceptions.ClientError) as error:
            last = error
            time.sleep(0.1)
    raise TimeoutError(f"no write was taken within {seconds} s; last answer: {last}")


def _create(client, bucket):
    try:
        client.create_bucket(Bucket=bucket)
    except client.exceptions.ClientError as error:
        if error.response["Error"]["Code"] not in ("BucketAlreadyOwnedByYou", "BucketAlreadyExists"):
            raise
