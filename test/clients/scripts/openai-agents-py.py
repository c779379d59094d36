from agents import Agent, OpenAIChatCompletionsModel, OpenAIProvider, RunConfig, Runner, function_tool
from openai import AsyncOpenAI
from pydantic import BaseModel
from step import CHAT, CITY, KEY, NO_MODEL, SUM, URL, WEATHER, WRONG_KEY, price, refusal, step

client = AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY)


def config(connection=client):
    """The library's own way to find a model takes what stands before a slash for the name of a vendor."""
    # Traces would go to the library's author.
    return RunConfig(model_provider=OpenAIProvider(openai_client=connection), tracing_disabled=True)


@function_tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}"


class City(BaseModel):
    name: str
    people: int


def credits_of(result):
    usage = result.context_wrapper.usage
    return price(usage.input_tokens, usage.output_tokens)


def tools_of(result):
    return [item.raw_item.name for item in result.new_items if item.type == "tool_call_item"]


@step("Runner.run")
async def _():
    result = await Runner.run(Agent(name="Clerk", model=CHAT, instructions="Be brief."), SUM, run_config=config())
    return {"text": result.final_output, "credits": credits_of(result)}


@step("Runner.run(Agent(tools=…))")
async def _():
    result = await Runner.run(Agent(name="Clerk", model=CHAT, tools=[weather]), WEATHER, run_config=config())
    return {"text": result.final_output, "tools": tools_of(result), "credits": credits_of(result)}


@step("Runner.run_streamed")
async def _():
    result = Runner.run_streamed(Agent(name="Clerk", model=CHAT, tools=[weather]), WEATHER, run_config=config())
    async for _event in result.stream_events():
        pass
    return {"text": result.final_output, "tools": tools_of(result), "credits": credits_of(result)}


@step("Runner.run(Agent(output_type=…))")
async def _():
    result = await Runner.run(Agent(name="Clerk", model=CHAT, output_type=City), CITY, run_config=config())
    return {"city": result.final_output.model_dump(), "credits": credits_of(result)}


@step("to_input_list")
async def _():
    agent = Agent(name="Clerk", model=CHAT, tools=[weather])
    first = await Runner.run(agent, WEATHER, run_config=config())
    second = await Runner.run(agent, [*first.to_input_list(), {"role": "user", "content": SUM}], run_config=config())
    return {"text": second.final_output, "credits": credits_of(first) + credits_of(second)}


@step("OpenAIChatCompletionsModel")
async def _():
    model = OpenAIChatCompletionsModel(model=CHAT, openai_client=client)
    result = await Runner.run(Agent(name="Clerk", model=model, tools=[weather]), WEATHER, run_config=config())
    return {"text": result.final_output, "tools": tools_of(result), "credits": credits_of(result)}


@refusal("AuthenticationError")
async def _():
    stranger = client.with_options(api_key=WRONG_KEY)
    await Runner.run(Agent(name="Clerk", model=CHAT), SUM, run_config=config(stranger))


@refusal("NotFoundError")
async def _():
    await Runner.run(Agent(name="Clerk", model=NO_MODEL), SUM, run_config=config())
