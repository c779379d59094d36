import { callsWeather, describesBern, hasTwoVectors, raises, tellsSum, testPythonLibrary } from './support/python.ts';

testPythonLibrary('langchain-py', {
  'ChatOpenAI.invoke': tellsSum,
  'ChatOpenAI.stream': tellsSum,
  'ChatOpenAI.astream': tellsSum,
  'ChatOpenAI.bind_tools': callsWeather,
  'ChatOpenAI.with_structured_output': describesBern,
  'ChatOpenAI(use_responses_api=True).invoke': tellsSum,
  'ChatOpenAI(use_responses_api=True).stream': tellsSum,
  'ChatOpenAI(use_responses_api=True).bind_tools': callsWeather,
  'ChatOpenAI(use_responses_api=True).with_structured_output': describesBern,
  'OpenAIEmbeddings.embed_documents': hasTwoVectors,
  OpenAIAuthenticationError: raises('OpenAIAuthenticationError', 401),
  OpenAIModelNotFoundError: raises('OpenAIModelNotFoundError', 404),
  OpenAIInvalidRequestError: raises('OpenAIInvalidRequestError', 400),
});
