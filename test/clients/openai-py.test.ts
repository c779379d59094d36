import assert from 'node:assert/strict';
import { callsWeather, describesBern, hasTwoVectors, raises, tellsSum, testPythonLibrary } from './support/python.ts';

const HEARD = /good morning/i;
const isPicture = ({ kind }: { kind: string }) => assert.equal(kind, 'png');

testPythonLibrary('openai-py', {
  'chat.completions.create': tellsSum,
  'chat.completions.create(stream=True)': tellsSum,
  AsyncOpenAI: tellsSum,
  'chat.completions.create(tools=…)': callsWeather,
  'chat.completions.stream': callsWeather,
  'chat.completions.parse': describesBern,
  'responses.create': tellsSum,
  'responses.stream': tellsSum,
  'responses.create(tools=…)': callsWeather,
  'responses.parse': describesBern,
  'embeddings.create': (value) => {
    hasTwoVectors(value);
    assert.ok(value.difference < 1e-6, value.difference);
  },
  'models.list': ({ ids }) => assert.ok(ids.includes('sandbox/chat'), ids),
  'models.retrieve': ({ id }) => assert.equal(id, 'sandbox/chat'),
  'images.generate': isPicture,
  'images.generate(stream=True)': (value) => {
    isPicture(value);
    assert.equal(value.last, 'image_generation.completed');
  },
  'images.edit': ({ kinds }) => assert.deepEqual(kinds, ['png', 'png']),
  'videos.create_and_poll': ({ status, seconds, size, kind }) =>
    assert.deepEqual([status, seconds, size, kind], ['completed', '2', '854x480', 'mp4']),
  'videos.list, .delete': ({ deleted }) => assert.deepEqual(deleted, [true]),
  'files.create, .retrieve, .content, .list, .delete': (value) =>
    assert.deepEqual(value, { has_size: true, has_content: true, is_listed: true, is_deleted: true }),
  'audio.speech.create': ({ kind }) => assert.equal(kind, 'RIFF'),
  'audio.speech.with_streaming_response.create': ({ bytes }) => assert.ok(bytes > 1000, bytes),
  'audio.transcriptions.create': ({ text }) => assert.match(text, HEARD),
  'audio.transcriptions.create(response_format="verbose_json")': ({ text, segments }) => {
    assert.match(text, HEARD);
    assert.ok(segments > 0);
  },
  'audio.transcriptions.create(response_format="text", "srt", "vtt")': ({ texts: [text, srt, vtt] }) => {
    assert.match(text, HEARD);
    assert.match(srt, /^1\n00:00:0\d,\d{3} --> 00:00:0\d,\d{3}\nGood morning/);
    assert.match(vtt, /^WEBVTT\n\n00:00:0\d\.\d{3} --> 00:00:0\d\.\d{3}\nGood morning/);
  },
  'audio.transcriptions.create(stream=True)': ({ last, text }) => {
    assert.equal(last, 'transcript.text.done');
    assert.match(text, HEARD);
  },
  AuthenticationError: raises('AuthenticationError', 401),
  NotFoundError: raises('NotFoundError', 404),
  BadRequestError: raises('BadRequestError', 400),
});
