from kittiwake.adapters.hub.limits import Limits, TokenBucket


def test_bucket_passes_its_rate_indefinitely():
    bucket = TokenBucket(rate_hz=200.0, burst=200.0, now_s=0.0)
    assert all(bucket.take(k / 200.0) for k in range(2000))


def test_bucket_passes_one_burst():
    bucket = TokenBucket(rate_hz=200.0, burst=50.0, now_s=0.0)
    assert [bucket.take(100.0) for _ in range(51)] == [True] * 50 + [False]
    # 10 ms bring two more
    assert [bucket.take(100.01) for _ in range(3)] == [True, True, False]


def test_returned_token_does_not_count():
    bucket = TokenBucket(rate_hz=1.0, burst=1.0, now_s=0.0)
    for _ in range(100):
        assert bucket.take(0.0)
        bucket.give_back()


def test_frame_limit_grows_with_the_hub_rate_from_the_default_on():
    fast = Limits.usual(250.0, lockstep=False)
    assert (fast.frames_hz, fast.burst) == (500.0, 500.0)
    slow = Limits.usual(10.0, 5.0, lockstep=False)
    assert (slow.frames_hz, slow.burst, slow.silence_s) == (200.0, 200.0, 5.0)
