import os

# Its table of prices comes from the internet otherwise.
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"

import litellm
from pydantic import BaseModel
from step import CHAT, CITY, KEY, NO_MODEL, SUM, TEXTS, TEXTS_PRICE, URL, WEATHER, WRONG_KEY, price, refusal, step

openai = {"model": f"openai/{CHAT}", "api_base": f"{URL}/v1", "api_key": KEY}
anthropic = {"model": f"anthropic/{CHAT}", "api_base": URL, "api_key": KEY}
messages = [{"role": "user", "content": SUM}]
weather_messages = [{"role": "user", "content": WEATHER}]
parameters = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
tools = [{"type": "function", "function": {"name": "weather", "parameters": parameters}}]


class City(BaseModel):
    name: str
    people: int


def credits_of(answer):
    return price(answer.usage.prompt_tokens, answer.usage.completion_tokens)


def text_and_credits(answer):
    return {"text": answer.choices[0].message.content, "credits": credits_of(answer)}


def streamed(**target):
    chunks = list(litellm.completion(**target, messages=messages, stream=True, stream_options={"include_usage": True}))
    return text_and_credits(litellm.stream_chunk_builder(chunks, messages=messages))


def tool_turns(**target):
    answer = litellm.completion(**target, messages=weather_messages, tools=tools)
    message = answer.choices[0].message
    [call] = message.tool_calls
    result = {"role": "tool", "tool_call_id": call.id, "content": "Sunny"}
    last = litellm.completion(**target, messages=[*weather_messages, message, result], tools=tools)
    return {
        "tool": [call.function.name, call.function.arguments],
        "text": last.choices[0].message.content,
        "credits": credits_of(answer) + credits_of(last),
    }


@step("completion, openai/…")
def _():
    return text_and_credits(litellm.completion(**openai, messages=messages))


@step("completion(stream=True), openai/…")
def _():
    return streamed(**openai)


@step("acompletion, openai/…")
async def _():
    return text_and_credits(await litellm.acompletion(**openai, messages=messages))


@step("completion(tools=…), openai/…")
def _():
    return tool_turns(**openai)


@step("completion(response_format=…), openai/…")
def _():
    asked = [{"role": "user", "content": CITY}]
    answer = litellm.completion(**openai, messages=asked, response_format=City)
    city = City.model_validate_json(answer.choices[0].message.content)
    return {"city": city.model_dump(), "credits": credits_of(answer)}


@step("responses, openai/…")
def _():
    answer = litellm.responses(**openai, input=SUM)
    return {
        "text": answer.output[0].content[0].text,
        "credits": price(answer.usage.input_tokens, answer.usage.output_tokens),
    }


@step("embedding, openai/…")
def _():
    answer = litellm.embedding(**{**openai, "model": "openai/sandbox/embedding"}, input=TEXTS)
    return {"lengths": [len(item["embedding"]) for item in answer.data], "credits": TEXTS_PRICE}


@step("image_generation, openai/…")
def _():
    target = {"model": "openai/sandbox/image", "api_base": f"{URL}/openai/v1", "api_key": KEY}
    answer = litellm.image_generation(**target, prompt="a toll gate")
    return {"has_picture": len(answer.data[0].b64_json or "") > 1000, "credits": 10}


@step("completion, anthropic/…")
def _():
    return text_and_credits(litellm.completion(**anthropic, messages=messages, max_tokens=300))


@step("completion(stream=True), anthropic/…")
def _():
    return streamed(**anthropic, max_tokens=300)


@step("completion(tools=…), anthropic/…")
def _():
    return tool_turns(**anthropic, max_tokens=300)


@refusal("AuthenticationError")
def _():
    litellm.completion(**{**openai, "api_key": WRONG_KEY}, messages=messages)


@refusal("NotFoundError")
def _():
    litellm.completion(**{**openai, "model": f"openai/{NO_MODEL}"}, messages=messages)


@refusal("BadRequestError")
def _():
    litellm.completion(**openai, messages=messages, top_p="warm")
