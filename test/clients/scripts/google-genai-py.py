from google import genai
from google.genai import types
from pydantic import BaseModel
from step import CITY, KEY, NO_MODEL, SUM, URL, WEATHER, WRONG_KEY, price, refusal, step

NATIVE = "sandbox/native"
client = genai.Client(api_key=KEY, http_options=types.HttpOptions(base_url=URL))


class City(BaseModel):
    name: str
    people: int


def weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}"


def credits_of(answer):
    usage = answer.usage_metadata
    return price(usage.prompt_token_count, usage.candidates_token_count)


@step("models.generate_content")
def _():
    answer = client.models.generate_content(model=NATIVE, contents=SUM)
    return {"text": answer.text, "credits": credits_of(answer)}


@step("models.generate_content_stream")
def _():
    chunks = list(client.models.generate_content_stream(model=NATIVE, contents=SUM))
    return {"text": "".join(chunk.text or "" for chunk in chunks), "credits": credits_of(chunks[-1])}


@step("aio.models.generate_content")
async def _():
    answer = await client.aio.models.generate_content(model=NATIVE, contents=SUM)
    return {"text": answer.text, "credits": credits_of(answer)}


@step("models.generate_content(tools=…)")
def _():
    declared = types.FunctionDeclaration.from_callable(client=client, callable=weather)
    config = types.GenerateContentConfig(tools=[types.Tool(function_declarations=[declared])])
    answer = client.models.generate_content(model=NATIVE, contents=WEATHER, config=config)
    [call] = answer.function_calls
    result = types.Part.from_function_response(name=call.name, response={"result": "Sunny"})
    asked = types.Content(role="user", parts=[types.Part(text=WEATHER)])
    turns = [asked, answer.candidates[0].content, types.Content(role="user", parts=[result])]
    last = client.models.generate_content(model=NATIVE, contents=turns, config=config)
    return {"tool": [call.name, call.args], "text": last.text, "credits": credits_of(answer) + credits_of(last)}


@step("models.generate_content(response_schema=…)")
def _():
    config = types.GenerateContentConfig(response_mime_type="application/json", response_schema=City)
    answer = client.models.generate_content(model=NATIVE, contents=CITY, config=config)
    return {"city": answer.parsed.model_dump(), "credits": credits_of(answer)}


@step("models.count_tokens")
def _():
    return {"tokens": client.models.count_tokens(model=NATIVE, contents=SUM).total_tokens}


@step("chats.create, .send_message")
def _():
    chat = client.chats.create(model=NATIVE)
    first = chat.send_message(SUM)
    second = chat.send_message("Say hello")
    return {"text": first.text, "turns": len(chat.get_history()), "credits": credits_of(first) + credits_of(second)}


@refusal("ClientError 401")
def _():
    stranger = genai.Client(api_key=WRONG_KEY, http_options=types.HttpOptions(base_url=URL))
    stranger.models.generate_content(model=NATIVE, contents=SUM)


@refusal("ClientError 404")
def _():
    client.models.generate_content(model=NO_MODEL, contents=SUM)


@refusal("ClientError 400")
def _():
    config = types.GenerateContentConfig(max_output_tokens=-1)
    client.models.generate_content(model=NATIVE, contents=SUM, config=config)
