import assert from 'node:assert/strict';
import { callsWeather, describesBern, raises, tellsSum, testPythonLibrary } from './support/python.ts';

testPythonLibrary('google-genai-py', {
  'models.generate_content': tellsSum,
  'models.generate_content_stream': tellsSum,
  'aio.models.generate_content': tellsSum,
  'models.generate_content(tools=…)': callsWeather,
  'models.generate_content(response_schema=…)': describesBern,
  'models.count_tokens': ({ tokens }) => assert.ok(tokens > 0),
  'chats.create, .send_message': (value) => {
    tellsSum(value);
    assert.equal(value.turns, 4);
  },
  'ClientError 401': raises('ClientError', 401),
  'ClientError 404': raises('ClientError', 404),
  'ClientError 400': raises('ClientError', 400),
});
