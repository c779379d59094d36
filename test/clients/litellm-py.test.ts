import assert from 'node:assert/strict';
import { callsWeather, describesBern, hasTwoVectors, raises, tellsSum, testPythonLibrary } from './support/python.ts';

testPythonLibrary('litellm-py', {
  'completion, openai/…': tellsSum,
  'completion(stream=True), openai/…': tellsSum,
  'acompletion, openai/…': tellsSum,
  'completion(tools=…), openai/…': callsWeather,
  'completion(response_format=…), openai/…': describesBern,
  'responses, openai/…': tellsSum,
  'embedding, openai/…': hasTwoVectors,
  'image_generation, openai/…': ({ has_picture }) => assert.ok(has_picture),
  'completion, anthropic/…': tellsSum,
  'completion(stream=True), anthropic/…': tellsSum,
  'completion(tools=…), anthropic/…': callsWeather,
  AuthenticationError: raises('AuthenticationError', 401),
  NotFoundError: raises('NotFoundError', 404),
  BadRequestError: raises('BadRequestError', 400),
});
