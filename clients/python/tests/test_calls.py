"""Every kind of call at a real gateway, blocking and asynchronous."""

import io
from pathlib import Path
from typing import Any, AsyncIterator, Iterator

import pytest
from conftest import CHAT, IMAGE, IMAGE_PRICE, URL, Caller


def test_chat_whole(call: Caller) -> None:
    answer = call("chat.create", model="sandbox/chat", messages=[{"role": "user", "content": "What is 12 * 7?"}], seed=None)
    assert "84" in answer["choices"][0]["message"]["content"]
    assert answer["usage"]["credits"] == call.spent
    assert b"seed" not in call.between.seen[0].body


def test_chat_streamed_chunk_by_chunk_and_the_last_has_the_usage(call: Caller) -> None:
    chunks = call("chat.stream", **CHAT)
    assert len(chunks) > 2 and {chunk["object"] for chunk in chunks} == {"chat.completion.chunk"}
    assert chunks[-1]["usage"]["credits"] > 0


def test_embeddings_in_the_order_of_the_texts(call: Caller) -> None:
    answer = call("embed", model="sandbox/embedding", input=["a toll gate", "a barrier"])
    assert [vector["index"] for vector in answer["data"]] == [0, 1]
    assert all(isinstance(number, (int, float)) for number in answer["data"][0]["embedding"])


def test_models_estimate_and_credits(call: Caller) -> None:
    assert "sandbox/chat" in [model["id"] for model in call("models")]
    estimate = call("estimate", endpoint="images", **IMAGE, n=4)
    assert estimate["credits"] == 4 * IMAGE_PRICE
    assert call("credits")["available"] == 1000


def test_a_picture_is_made_by_a_call_that_waits_and_saved_as_a_file_without_the_credential(
    call: Caller, tmp_path: Path
) -> None:
    job, assets = call("images.generate_and_wait", **IMAGE)
    assert call.between.seen[0].headers["prefer"] == "wait=25"
    assert job["status"] == "succeeded" and call.spent == IMAGE_PRICE
    asset = {**assets[0], "url": assets[0]["url"].replace(URL, call.between.url)}
    media = call("download", asset)
    call.save(media, tmp_path / "gate.png")
    saved = (tmp_path / "gate.png").read_bytes()
    assert saved[1:4] == b"PNG" and len(saved) == asset["bytes"] == media.size
    assert media.type == "image/png"
    assert "authorization" not in call.between.seen[-1].headers
    assert [file.name for file in tmp_path.iterdir()] == ["gate.png"]


def test_a_clip_tells_its_progress(call: Caller) -> None:
    states = []
    film = call(
        "videos.generate_and_wait",
        model="sandbox/video",
        prompt="a boat",
        seconds=1,
        size="854x480",
        on_progress=lambda job: states.append((job["status"], job["progress"])),
    )
    assert film.assets[0]["seconds"] == 1
    assert states[-1] == ("succeeded", 100) and len(set(states)) == len(states)
    assert "prefer" not in call.between.seen[0].headers


def test_music_is_made_once_for_one_key_and_waited_for_later(call: Caller) -> None:
    request = {"model": "sandbox/music", "prompt": "a tune", "duration_seconds": 1, "idempotency_key": "order 4711"}
    job = call("music.generate", **request)
    assert call("music.generate", **request)["id"] == job["id"]
    outcome = call("jobs.wait", job["id"])
    assert call("jobs.get", job["id"]) == outcome.job
    assert call("jobs.assets", job["id"])[0]["id"] == outcome.assets[0]["id"]


def test_a_list_goes_on_behind_its_first_page(call: Caller) -> None:
    made = [call("images.generate", **IMAGE)["id"] for _ in range(3)]
    for job_id in made:
        call("jobs.wait", job_id)
    begun = len(call.between.seen)
    assert [job["id"] for job in call("jobs.list", kind="image", limit=2)] == made[::-1]
    assert len(call.between.seen) == begun + 2


def test_what_is_spoken_is_heard(call: Caller, tmp_path: Path) -> None:
    speech, sound = call.media("speak", model="sandbox/speech", input="The gate is open.", response_format="wav")
    assert speech.type == "audio/wav" and sound[:4] == b"RIFF"
    path = tmp_path / "speech.wav"
    path.write_bytes(sound)
    heard = call(
        "transcribe",
        path,
        model="sandbox/transcribe",
        response_format="verbose_json",
        timestamp_granularities=["segment", "word"],
    )
    assert "is open" in heard["text"].lower()
    assert heard["words"] and heard["segments"]
    kept = call("upload", sound, filename="speech.wav")
    assert call("transcribe", model="sandbox/transcribe", url=kept["url"])["text"] == heard["text"]


def pieces(content: bytes) -> Iterator[bytes]:
    yield content[:100]
    yield content[100:]


async def async_pieces(content: bytes) -> AsyncIterator[bytes]:
    for piece in pieces(content):
        yield piece


def test_media_are_uploaded_from_a_path_bytes_a_file_and_pieces_and_are_what_they_were(
    call: Caller, tmp_path: Path
) -> None:
    _, assets = call("images.generate_and_wait", **IMAGE)
    _, content = call.media("download", assets[0])
    path = tmp_path / 'a "quoted" name.png'
    path.write_bytes(content)
    uploads: Any = [path, content, io.BytesIO(content), pieces(content)]
    if call.loop is not None:
        uploads.append(async_pieces(content))
    for upload in uploads:
        kept = call("upload", upload, purpose="reference")
        assert (kept["bytes"], kept["mime_type"], kept["purpose"]) == (len(content), "image/png", "reference")
    assert call.media("download", kept)[1] == content
    edited = call("images.edit_and_wait", model="sandbox/image", prompt="at night", image=kept["url"])
    assert edited.assets[0]["kind"] == "image"


def test_a_path_is_not_taken_for_text(call: Caller) -> None:
    with pytest.raises(TypeError, match="pathlib"):
        call("upload", "gate.png")
