from anthropic import Anthropic, AsyncAnthropic
from pydantic import BaseModel
from step import CHAT, CITY, KEY, NO_MODEL, SUM, URL, WEATHER, WRONG_KEY, price, refusal, step

client = Anthropic(base_url=URL, api_key=KEY)
limits = {"model": CHAT, "max_tokens": 300}
messages = [{"role": "user", "content": SUM}]
weather_messages = [{"role": "user", "content": WEATHER}]
schema = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = [{"name": "weather", "description": "The weather in a city", "input_schema": schema}]


class City(BaseModel):
    name: str
    people: int


def credits_of(answer):
    return price(answer.usage.input_tokens, answer.usage.output_tokens)


@step("messages.create")
def _():
    answer = client.messages.create(**limits, messages=messages, system="Be brief.")
    return {"text": answer.content[0].text, "stop": answer.stop_reason, "credits": answer.usage.credits}


@step("messages.stream")
def _():
    with client.messages.stream(**limits, messages=messages) as stream:
        text = "".join(stream.text_stream)
        answer = stream.get_final_message()
    return {"text": answer.content[0].text, "deltas": text, "credits": credits_of(answer)}


@step("AsyncAnthropic")
async def _():
    async with AsyncAnthropic(base_url=URL, auth_token=KEY) as asynchronous:
        events = [event async for event in await asynchronous.messages.create(**limits, messages=messages, stream=True)]
    text = "".join(event.delta.text for event in events if event.type == "content_block_delta")
    [delta] = [event for event in events if event.type == "message_delta"]
    return {"text": text, "credits": delta.usage.credits}


@step("messages.create(tools=…)")
def _():
    answer = client.messages.create(**limits, messages=weather_messages, tools=tools)
    [call] = answer.content
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "Sunny"}
    turns = [{"role": "assistant", "content": answer.content}, {"role": "user", "content": [result]}]
    last = client.messages.create(**limits, messages=[*weather_messages, *turns], tools=tools)
    return {
        "tool": [call.name, call.input],
        "text": last.content[0].text,
        "credits": answer.usage.credits + last.usage.credits,
    }


@step("messages.stream(tools=…)")
def _():
    with client.messages.stream(**limits, messages=weather_messages, tools=tools) as stream:
        answer = stream.get_final_message()
    [call] = answer.content
    return {"tool": [call.name, call.input], "credits": credits_of(answer)}


@step("messages.parse")
def _():
    answer = client.messages.parse(**limits, messages=[{"role": "user", "content": CITY}], output_format=City)
    return {"city": answer.parsed_output.model_dump(), "credits": answer.usage.credits}


@step("messages.count_tokens")
def _():
    return {"tokens": client.messages.count_tokens(model=CHAT, messages=messages).input_tokens}


@step("models.list")
def _():
    return {"ids": [model.id for model in client.models.list()]}


@step("models.retrieve")
def _():
    return {"id": client.models.retrieve(CHAT).id}


@refusal("AuthenticationError")
def _():
    Anthropic(base_url=URL, api_key=WRONG_KEY).messages.create(**limits, messages=messages)


@refusal("NotFoundError")
def _():
    client.messages.create(model=NO_MODEL, max_tokens=300, messages=messages)


@refusal("BadRequestError")
def _():
    client.messages.create(model=CHAT, max_tokens=-1, messages=messages)
