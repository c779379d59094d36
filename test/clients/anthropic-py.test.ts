import assert from 'node:assert/strict';
import { callsWeather, describesBern, raises, tellsSum, testPythonLibrary } from './support/python.ts';

testPythonLibrary('anthropic-py', {
  'messages.create': tellsSum,
  'messages.stream': tellsSum,
  AsyncAnthropic: tellsSum,
  'messages.create(tools=…)': callsWeather,
  'messages.stream(tools=…)': callsWeather,
  'messages.parse': describesBern,
  'messages.count_tokens': ({ tokens }) => assert.ok(tokens > 0),
  'models.list': ({ ids }) => assert.ok(ids.includes('sandbox/chat'), ids),
  'models.retrieve': ({ id }) => assert.equal(id, 'sandbox/chat'),
  AuthenticationError: raises('AuthenticationError', 401),
  NotFoundError: raises('NotFoundError', 404),
  BadRequestError: raises('BadRequestError', 400),
});
