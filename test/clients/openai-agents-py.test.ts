import { describesBern, raises, tellsSum, testPythonLibrary, usesWeather } from './support/python.ts';

testPythonLibrary('openai-agents-py', {
  'Runner.run': tellsSum,
  'Runner.run(Agent(tools=…))': usesWeather,
  'Runner.run_streamed': usesWeather,
  'Runner.run(Agent(output_type=…))': describesBern,
  to_input_list: tellsSum,
  OpenAIChatCompletionsModel: usesWeather,
  AuthenticationError: raises('AuthenticationError', 401),
  NotFoundError: raises('NotFoundError', 404),
});
