from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from langchain_openai import ChatOpenAI, OpenAIEmbeddings
from pydantic import BaseModel
from step import CHAT, CITY, KEY, NO_MODEL, SUM, TEXTS, TEXTS_PRICE, URL, WEATHER, WRONG_KEY, price, refusal, step

address = {"base_url": f"{URL}/v1", "api_key": KEY}
model = ChatOpenAI(model=CHAT, **address)
responses_model = ChatOpenAI(model=CHAT, use_responses_api=True, **address)


@tool
def weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}"


class City(BaseModel):
    name: str
    people: int


def credits_of(message: AIMessage):
    return price(message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"])


def text_and_credits(message):
    return {"text": message.text, "credits": credits_of(message)}


def joined(chunks):
    whole = chunks[0]
    for chunk in chunks[1:]:
        whole += chunk
    return whole


def tool_turns(chat):
    bound = chat.bind_tools([weather])
    answer = bound.invoke(WEATHER)
    [call] = answer.tool_calls
    result = ToolMessage(weather.invoke(call["args"]), tool_call_id=call["id"])
    last = bound.invoke([("user", WEATHER), answer, result])
    return {
        "tool": [call["name"], call["args"]],
        "text": last.text,
        "credits": credits_of(answer) + credits_of(last),
    }


def structured(chat):
    result = chat.with_structured_output(City, include_raw=True).invoke(CITY)
    return {"city": result["parsed"].model_dump(), "credits": credits_of(result["raw"])}


@step("ChatOpenAI.invoke")
def _():
    return text_and_credits(model.invoke(SUM))


@step("ChatOpenAI.stream")
def _():
    return text_and_credits(joined(list(model.stream(SUM, stream_usage=True))))


@step("ChatOpenAI.astream")
async def _():
    return text_and_credits(joined([chunk async for chunk in model.astream(SUM, stream_usage=True)]))


@step("ChatOpenAI.bind_tools")
def _():
    return tool_turns(model)


@step("ChatOpenAI.with_structured_output")
def _():
    return structured(model)


@step("ChatOpenAI(use_responses_api=True).invoke")
def _():
    return text_and_credits(responses_model.invoke(SUM))


@step("ChatOpenAI(use_responses_api=True).stream")
def _():
    return text_and_credits(joined(list(responses_model.stream(SUM))))


@step("ChatOpenAI(use_responses_api=True).bind_tools")
def _():
    return tool_turns(responses_model)


@step("ChatOpenAI(use_responses_api=True).with_structured_output")
def _():
    return structured(responses_model)


@step("OpenAIEmbeddings.embed_documents")
def _():
    # Without it the library sends numbers of its own tokeniser in the place of texts.
    embeddings = OpenAIEmbeddings(model="sandbox/embedding", check_embedding_ctx_length=False, **address)
    vectors = embeddings.embed_documents(TEXTS)
    return {"lengths": [len(vector) for vector in vectors], "credits": TEXTS_PRICE}


@refusal("OpenAIAuthenticationError")
def _():
    ChatOpenAI(model=CHAT, base_url=f"{URL}/v1", api_key=WRONG_KEY).invoke(SUM)


@refusal("OpenAIModelNotFoundError")
def _():
    ChatOpenAI(model=NO_MODEL, **address).invoke(SUM)


@refusal("OpenAIInvalidRequestError")
def _():
    model.invoke(SUM, top_p="warm")
