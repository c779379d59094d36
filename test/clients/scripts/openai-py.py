import base64
import math
import warnings

from openai import AsyncOpenAI, OpenAI
from pydantic import BaseModel
from step import CHAT, CITY, KEY, NO_MODEL, SUM, TEXTS, URL, WEATHER, WRONG_KEY, refusal, step

# The library warns that its author's video models end; those behind the gateway do not.
warnings.simplefilter("ignore", DeprecationWarning)

client = OpenAI(base_url=f"{URL}/openai/v1", api_key=KEY)
messages = [{"role": "user", "content": SUM}]
weather_messages = [{"role": "user", "content": WEATHER}]
parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
chat_tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]
response_tools = [{"type": "function", "name": "weather", "parameters": parameters, "strict": False}]
streamed = {"stream": True, "stream_options": {"include_usage": True}}


class City(BaseModel):
    name: str
    people: int


def text_of(chunks):
    return "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)


@step("chat.completions.create")
def _():
    answer = client.chat.completions.create(model=CHAT, messages=messages)
    return {"text": answer.choices[0].message.content, "credits": answer.usage.credits}


@step("chat.completions.create(stream=True)")
def _():
    chunks = list(client.chat.completions.create(model=CHAT, messages=messages, **streamed))
    return {"text": text_of(chunks), "credits": chunks[-1].usage.credits}


@step("AsyncOpenAI")
async def _():
    async with AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY) as asynchronous:
        stream = await asynchronous.chat.completions.create(model=CHAT, messages=messages, **streamed)
        chunks = [chunk async for chunk in stream]
    return {"text": text_of(chunks), "credits": chunks[-1].usage.credits}


@step("chat.completions.create(tools=…)")
def _():
    answer = client.chat.completions.create(model=CHAT, messages=weather_messages, tools=chat_tools)
    message = answer.choices[0].message
    [call] = message.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": "Sunny"}
    last = client.chat.completions.create(model=CHAT, messages=[*weather_messages, message, result], tools=chat_tools)
    return {
        "tool": [call.function.name, call.function.arguments],
        "text": last.choices[0].message.content,
        "credits": answer.usage.credits + last.usage.credits,
    }


@step("chat.completions.stream")
def _():
    asked = {"model": CHAT, "messages": weather_messages, "tools": chat_tools}
    with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
        answer = stream.get_final_completion()
    [call] = answer.choices[0].message.tool_calls
    return {"tool": [call.function.name, call.function.arguments], "credits": answer.usage.credits}


@step("chat.completions.parse")
def _():
    asked = [{"role": "user", "content": CITY}]
    answer = client.chat.completions.parse(model=CHAT, messages=asked, response_format=City)
    return {"city": answer.choices[0].message.parsed.model_dump(), "credits": answer.usage.credits}


@step("responses.create")
def _():
    answer = client.responses.create(model=CHAT, input=SUM)
    return {"text": answer.output_text, "credits": answer.usage.credits}


@step("responses.stream")
def _():
    with client.responses.stream(model=CHAT, input=SUM) as stream:
        deltas = [event.delta for event in stream if event.type == "response.output_text.delta"]
        answer = stream.get_final_response()
    return {"text": answer.output_text, "deltas": "".join(deltas), "credits": answer.usage.credits}


@step("responses.create(tools=…)")
def _():
    answer = client.responses.create(model=CHAT, input=WEATHER, tools=response_tools)
    [call] = answer.output
    result = {"type": "function_call_output", "call_id": call.call_id, "output": "Sunny"}
    last = client.responses.create(model=CHAT, input=[*weather_messages, call, result], tools=response_tools)
    return {
        "tool": [call.name, call.arguments],
        "text": last.output_text,
        "credits": answer.usage.credits + last.usage.credits,
    }


@step("responses.parse")
def _():
    answer = client.responses.parse(model=CHAT, input=CITY, text_format=City)
    return {"city": answer.output_parsed.model_dump(), "credits": answer.usage.credits}


@step("embeddings.create")
def _():
    asked = {"model": "sandbox/embedding", "input": TEXTS}
    # The library asks for base64 by itself.
    packed = client.embeddings.create(**asked)
    plain = client.embeddings.create(**asked, encoding_format="float")
    pairs = zip(packed.data[1].embedding, plain.data[1].embedding, strict=True)
    return {
        "lengths": [len(item.embedding) for item in packed.data],
        "difference": max(abs(one - other) for one, other in pairs),
        "credits": (packed.usage.prompt_tokens + plain.usage.prompt_tokens) / 10_000,
    }


@step("models.list")
def _():
    return {"ids": [model.id for model in client.models.list()]}


@step("models.retrieve")
def _():
    return {"id": client.models.retrieve(CHAT).id}


def kind_of(data):
    return "png" if data.startswith(b"\x89PNG") else "mp4" if data[4:8] == b"ftyp" else data[:4].decode("latin1")


def picture_of(answer):
    [item] = answer.data
    return base64.b64decode(item.b64_json)


IMAGE = "sandbox/image"
PICTURE_CREDITS = 10
picture = b""


@step("images.generate")
def _():
    global picture
    picture = picture_of(client.images.generate(model=IMAGE, prompt="a toll gate at sunrise"))
    return {"kind": kind_of(picture), "credits": PICTURE_CREDITS}


@step("images.generate(stream=True)")
def _():
    events = list(client.images.generate(model=IMAGE, prompt="a toll gate at noon", stream=True))
    drawn = base64.b64decode(events[-1].b64_json)
    return {"last": events[-1].type, "kind": kind_of(drawn), "credits": PICTURE_CREDITS}


@step("images.edit")
def _():
    files = [(name, picture, "image/png") for name in ("one.png", "two.png")]
    one = client.images.edit(model=IMAGE, prompt="at night", image=files[0])
    both = client.images.edit(model=IMAGE, prompt="side by side", image=files)
    return {"kinds": [kind_of(picture_of(each)) for each in (one, both)], "credits": 2 * PICTURE_CREDITS}


@step("videos.create_and_poll")
def _():
    asked = {"model": "sandbox/video", "prompt": "a gate opens", "seconds": "2", "size": "854x480"}
    video = client.videos.create_and_poll(**asked, poll_interval_ms=500)
    kind = kind_of(client.videos.download_content(video.id).read())
    # 20 credits a second, half of it at 480p.
    return {"status": video.status, "seconds": video.seconds, "size": video.size, "kind": kind, "credits": 20}


@step("videos.list, .delete")
def _():
    return {"deleted": [client.videos.delete(video.id).deleted for video in client.videos.list()]}


@step("files.create, .retrieve, .content, .list, .delete")
def _():
    file = client.files.create(file=("gate.png", picture, "image/png"), purpose="vision")
    return {
        "has_size": client.files.retrieve(file.id).bytes == len(picture),
        "has_content": client.files.content(file.id).read() == picture,
        "is_listed": [each.id for each in client.files.list()] == [file.id],
        "is_deleted": client.files.delete(file.id).deleted,
    }


SPOKEN = "Good morning. The gate is open."
SPEECH_CREDITS = 15 * len(SPOKEN) / 1000
spoken = {"model": "sandbox/speech", "voice": "alloy", "input": SPOKEN}
speech = b""


@step("audio.speech.create")
def _():
    global speech
    speech = client.audio.speech.create(**spoken, response_format="wav").read()
    return {"kind": kind_of(speech), "credits": SPEECH_CREDITS}


@step("audio.speech.with_streaming_response.create")
def _():
    with client.audio.speech.with_streaming_response.create(**spoken) as answer:
        return {"bytes": sum(len(piece) for piece in answer.iter_bytes()), "credits": SPEECH_CREDITS}


transcript_credits = 0


def transcript(**options):
    sound = ("speech.wav", speech, "audio/wav")
    return client.audio.transcriptions.create(model="sandbox/transcribe", file=sound, **options)


@step("audio.transcriptions.create")
def _():
    global transcript_credits
    answer = transcript()
    # A tenth of a credit a second, of each millisecond that has begun.
    transcript_credits = math.ceil(answer.usage.seconds * 1000) / 10_000
    return {"text": answer.text, "credits": transcript_credits}


@step('audio.transcriptions.create(response_format="verbose_json")')
def _():
    answer = transcript(response_format="verbose_json", timestamp_granularities=["segment"])
    return {"text": answer.text, "segments": len(answer.segments), "credits": transcript_credits}


@step('audio.transcriptions.create(response_format="text", "srt", "vtt")')
def _():
    texts = [transcript(response_format=each) for each in ("text", "srt", "vtt")]
    return {"texts": texts, "credits": 3 * transcript_credits}


@step("audio.transcriptions.create(stream=True)")
def _():
    events = list(transcript(stream=True))
    return {"last": events[-1].type, "text": events[-1].text, "credits": transcript_credits}


@refusal("AuthenticationError")
def _():
    client.with_options(api_key=WRONG_KEY).chat.completions.create(model=CHAT, messages=messages)


@refusal("NotFoundError")
def _():
    client.chat.completions.create(model=NO_MODEL, messages=messages)


@refusal("BadRequestError")
def _():
    client.responses.create(model=CHAT, input=SUM, temperature="warm")
