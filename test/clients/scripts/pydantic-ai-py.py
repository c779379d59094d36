import os

from pydantic import BaseModel
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from step import CHAT, CITY, KEY, NO_MODEL, SUM, URL, WEATHER, WRONG_KEY, price, refusal, step


def provider(key=KEY):
    return OpenAIProvider(base_url=f"{URL}/v1", api_key=key)


chat = OpenAIChatModel(CHAT, provider=provider())
responses = OpenAIResponsesModel(CHAT, provider=provider())
# Of the short form, which takes both from the environment.
os.environ["OPENAI_BASE_URL"] = f"{URL}/v1"
os.environ["OPENAI_API_KEY"] = KEY


class City(BaseModel):
    """A city"""

    name: str
    people: int


def weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}"


def credits_of(result):
    return price(result.usage.input_tokens, result.usage.output_tokens)


def text_and_credits(result):
    return {"text": result.output, "credits": credits_of(result)}


def city_and_credits(result):
    return {"city": result.output.model_dump(), "credits": credits_of(result)}


async def streamed(model):
    async with Agent(model).run_stream(SUM) as result:
        pieces = [piece async for piece in result.stream_text(delta=True)]
        return {"text": "".join(pieces), "credits": credits_of(result)}


@step("OpenAIChatModel: Agent.run_sync")
def _():
    return text_and_credits(Agent(chat).run_sync(SUM))


@step("OpenAIChatModel: Agent.run_stream")
async def _():
    return await streamed(chat)


@step("OpenAIChatModel: Agent(tools=…)")
def _():
    return text_and_credits(Agent(chat, tools=[weather]).run_sync(WEATHER))


@step("OpenAIChatModel: Agent(output_type=…)")
def _():
    return city_and_credits(Agent(chat, output_type=City).run_sync(CITY))


@step("openai:…: Agent.run_sync")
def _():
    return text_and_credits(Agent(f"openai:{CHAT}").run_sync(SUM))


@step("OpenAIResponsesModel: Agent.run_stream")
async def _():
    return await streamed(responses)


@step("OpenAIResponsesModel: Agent(tools=…)")
def _():
    return text_and_credits(Agent(responses, tools=[weather]).run_sync(WEATHER))


@step("OpenAIResponsesModel: Agent(output_type=…)")
def _():
    return city_and_credits(Agent(responses, output_type=City).run_sync(CITY))


@step("message_history")
def _():
    agent = Agent(responses, tools=[weather])
    first = agent.run_sync(WEATHER)
    second = agent.run_sync(SUM, message_history=first.all_messages())
    return {"text": second.output, "credits": credits_of(first) + credits_of(second)}


@refusal("ModelAuthenticationError")
def _():
    Agent(OpenAIChatModel(CHAT, provider=provider(WRONG_KEY))).run_sync(SUM)


@refusal("ModelNotFoundError")
def _():
    Agent(OpenAIChatModel(NO_MODEL, provider=provider())).run_sync(SUM)


@refusal("ModelRequestRejectedError")
def _():
    Agent(chat).run_sync(SUM, model_settings={"top_p": "warm"})
