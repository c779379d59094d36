import { describesBern, raises, tellsSum, testPythonLibrary, usesWeather } from './support/python.ts';

testPythonLibrary('pydantic-ai-py', {
  'OpenAIChatModel: Agent.run_sync': tellsSum,
  'OpenAIChatModel: Agent.run_stream': tellsSum,
  'OpenAIChatModel: Agent(tools=…)': usesWeather,
  'OpenAIChatModel: Agent(output_type=…)': describesBern,
  'openai:…: Agent.run_sync': tellsSum,
  'OpenAIResponsesModel: Agent.run_stream': tellsSum,
  'OpenAIResponsesModel: Agent(tools=…)': usesWeather,
  'OpenAIResponsesModel: Agent(output_type=…)': describesBern,
  message_history: tellsSum,
  ModelAuthenticationError: raises('ModelAuthenticationError', 401),
  ModelNotFoundError: raises('ModelNotFoundError', 404),
  ModelRequestRejectedError: raises('ModelRequestRejectedError', 400),
});
