import instructor
from openai import AsyncOpenAI, DefaultHttpxClient, OpenAI
from pydantic import BaseModel
from step import CHAT, CITY, KEY, NO_MODEL, URL, WRONG_KEY, price, price_told, refusal, step

address = {"base_url": f"{URL}/v1", "api_key": KEY}
asked = {"model": CHAT, "messages": [{"role": "user", "content": CITY}]}


class City(BaseModel):
    """A city"""

    name: str
    people: int


def credits_of(usage):
    return price(usage.prompt_tokens, usage.completion_tokens)


def created(client, **options):
    city, answer = client.chat.completions.create_with_completion(**asked, response_model=City, **options)
    return {"city": city.model_dump(), "credits": credits_of(answer.usage)}


@step("from_openai: create")
def _():
    return created(instructor.from_openai(OpenAI(**address)))


@step("Mode.JSON: create")
def _():
    return created(instructor.from_openai(OpenAI(**address), mode=instructor.Mode.JSON))


@step("Mode.JSON_SCHEMA: create")
def _():
    return created(instructor.from_openai(OpenAI(**address), mode=instructor.Mode.JSON_SCHEMA))


@step("AsyncOpenAI: create")
async def _():
    client = instructor.from_openai(AsyncOpenAI(**address))
    city, answer = await client.chat.completions.create_with_completion(**asked, response_model=City)
    return {"city": city.model_dump(), "credits": credits_of(answer.usage)}


@step("create_partial")
def _():
    told = []
    hooks = {"response": [lambda response: told.append(price_told(response))]}
    client = instructor.from_openai(OpenAI(**address, http_client=DefaultHttpxClient(event_hooks=hooks)))
    options = {"response_model": City, "stream_options": {"include_usage": True}}
    partial = list(client.chat.completions.create_partial(**asked, **options))
    return {"city": partial[-1].model_dump(), "credits": sum(told)}


def refused(client, **changes):
    client.chat.completions.create(**{**asked, **changes}, response_model=City, max_retries=1)


@refusal("InstructorRetryException 401")
def _():
    refused(instructor.from_openai(OpenAI(base_url=f"{URL}/v1", api_key=WRONG_KEY)))


@refusal("InstructorRetryException 404")
def _():
    refused(instructor.from_openai(OpenAI(**address)), model=NO_MODEL)
