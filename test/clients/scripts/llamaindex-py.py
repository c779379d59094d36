from llama_index.core.llms import ChatMessage
from llama_index.core.tools import FunctionTool
from llama_index.embeddings.openai_like import OpenAILikeEmbedding
from llama_index.llms.openai_like import OpenAILike
from openai import DefaultHttpxClient
from pydantic import BaseModel
from step import CHAT, CITY, KEY, NO_MODEL, SUM, TEXTS, TEXTS_PRICE, URL, WEATHER, WRONG_KEY, price, price_told, refusal, step


def connect(model=CHAT, key=KEY, **options):
    kind = {"is_chat_model": True, "is_function_calling_model": True}
    return OpenAILike(model=model, api_base=f"{URL}/v1", api_key=key, max_retries=0, **kind, **options)


llm = connect()
question = [ChatMessage(role="user", content=SUM)]


class City(BaseModel):
    """A city"""

    name: str
    people: int


def weather(city: str) -> str:
    """The weather in a city."""
    return f"Sunny in {city}"


def credits_of(answer):
    return price(answer.raw.usage.prompt_tokens, answer.raw.usage.completion_tokens)


@step("OpenAILike.complete")
def _():
    answer = llm.complete(SUM)
    return {"text": answer.text, "credits": credits_of(answer)}


@step("OpenAILike.chat")
def _():
    answer = llm.chat(question)
    return {"text": answer.message.content, "credits": credits_of(answer)}


@step("OpenAILike.stream_chat")
def _():
    pieces = list(llm.stream_chat(question, stream_options={"include_usage": True}))
    deltas = "".join(each.delta or "" for each in pieces)
    return {"text": pieces[-1].message.content, "deltas": deltas, "credits": credits_of(pieces[-1])}


@step("OpenAILike.achat")
async def _():
    answer = await llm.achat(question)
    return {"text": answer.message.content, "credits": credits_of(answer)}


@step("OpenAILike.chat_with_tools")
def _():
    answer = llm.chat_with_tools([FunctionTool.from_defaults(weather)], user_msg=WEATHER)
    [call] = llm.get_tool_calls_from_response(answer)
    return {"tool": [call.tool_name, call.tool_kwargs], "credits": credits_of(answer)}


@step("OpenAILike.as_structured_llm")
def _():
    told = []
    hooks = {"response": [lambda response: told.append(price_told(response))]}
    hooked = connect(http_client=DefaultHttpxClient(event_hooks=hooks))
    answer = hooked.as_structured_llm(City).complete(CITY)
    return {"city": answer.raw.model_dump(), "credits": sum(told)}


@step("OpenAILikeEmbedding.get_text_embedding_batch")
def _():
    embedding = OpenAILikeEmbedding(model_name="sandbox/embedding", api_base=f"{URL}/v1", api_key=KEY)
    vectors = embedding.get_text_embedding_batch(TEXTS)
    return {"lengths": [len(vector) for vector in vectors], "credits": TEXTS_PRICE}


@refusal("AuthenticationError")
def _():
    connect(key=WRONG_KEY).chat(question)


@refusal("NotFoundError")
def _():
    connect(model=NO_MODEL).chat(question)


@refusal("BadRequestError")
def _():
    llm.chat(question, top_p="warm")
