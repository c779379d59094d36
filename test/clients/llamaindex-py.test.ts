import { callsWeather, describesBern, hasTwoVectors, raises, tellsSum, testPythonLibrary } from './support/python.ts';

testPythonLibrary('llamaindex-py', {
  'OpenAILike.complete': tellsSum,
  'OpenAILike.chat': tellsSum,
  'OpenAILike.stream_chat': tellsSum,
  'OpenAILike.achat': tellsSum,
  'OpenAILike.chat_with_tools': callsWeather,
  'OpenAILike.as_structured_llm': describesBern,
  'OpenAILikeEmbedding.get_text_embedding_batch': hasTwoVectors,
  AuthenticationError: raises('AuthenticationError', 401),
  NotFoundError: raises('NotFoundError', 404),
  BadRequestError: raises('BadRequestError', 400),
});
