import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { OpenAiEmulator } from '../src/vendors/openai/emulator.ts';
import { formOf, pngOf } from './support/asked-forms.ts';
import type { Fields } from './support/documents.ts';
import { type Answer, Gateway, type NewCaller } from './support/gateway.ts';
import { toneAs } from './support/media-samples.ts';
import { moneyOf, paidCaller, tokenModel } from './support/paid-calls.ts';
import { Apps } from './support/tokens.ts';

// Prompts that name files of /v1/files by their ids.

const chatter = new OpenAiEmulator({ isLenient: true });
const speaker = new OpenAiEmulator();
const PICTURE = pngOf();
const PICTURE_URL = `data:image/png;base64,${PICTURE.toString('base64')}`;
let gateway: Gateway;
let caller: NewCaller;
before(async () => {
  await Promise.all([chatter.start(), speaker.start()]);
  gateway = await Gateway.start();
  await gateway.putConfig({
    upstreams: [
      { id: 'chatter', vendor: 'openai', base_url: chatter.url },
      { id: 'speaker', vendor: 'openai', base_url: speaker.url, dialect: 'openai' },
    ],
    models: [tokenModel('model', ['chatter']), tokenModel('passed', ['speaker'])],
  });
});
after(async () => {
  await gateway.stop();
  await Promise.all([chatter.stop(), speaker.stop()]);
});
beforeEach(async () => {
  caller = await paidCaller(gateway);
});
afterEach(() => gateway.assertBooksBalance());

async function kept(bytes: Buffer, { key }: NewCaller = caller): Promise<string> {
  const form = formOf([{ name: 'file', bytes, fileName: 'gate.bin' }]);
  const { status, json, text } = await gateway.call('POST', '/v1/files', { key, ...form });
  assert.equal(status, 200, text);
  return json.id;
}

const post = (path: string, body: Fields): Promise<Answer> => gateway.call('POST', path, { key: caller.key, body });
const chatBody = (part: Fields) => ({ model: 'model', messages: [{ role: 'user', content: [part] }] });
const inputOf = (...content: Fields[]) => [{ role: 'user', content }];
const sentTo = ({ requests }: OpenAiEmulator) => JSON.parse(requests.at(-1)?.bytes.toString('utf8') ?? '{}');

test('chat is given a kept picture as its bytes', async () => {
  const file_id = await kept(PICTURE);
  const answer = await post('/v1/chat/completions', chatBody({ type: 'file', file: { file_id } }));
  assert.equal(answer.status, 200, answer.text);
  const [part] = sentTo(chatter).messages[0].content;
  assert.deepEqual(part, { type: 'image_url', image_url: { url: PICTURE_URL } });
});

test('and any other file as a file with its name', async () => {
  const sound = await toneAs('wav', { seconds: 0.1 });
  const answer = await post('/v1/chat/completions', chatBody({ type: 'file', file: { file_id: await kept(sound) } }));
  assert.equal(answer.status, 200, answer.text);
  const [part] = sentTo(chatter).messages[0].content;
  const file_data = `data:audio/wav;base64,${sound.toString('base64')}`;
  assert.deepEqual(part, { type: 'file', file: { filename: 'gate.bin', file_data } });
});

test('a response takes kept pictures as pictures and as files, and from a tool', async () => {
  const file_id = await kept(PICTURE);
  const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' };
  const output = { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_image', file_id }] };
  const parts = [
    { type: 'input_text', text: 'Compare.' },
    { type: 'input_image', file_id, detail: 'low' },
    { type: 'input_file', file_id },
  ];
  const answer = await post('/v1/responses', { model: 'model', input: [...inputOf(...parts), call, output] });
  assert.equal(answer.status, 200, answer.text);
  const written = JSON.stringify(sentTo(chatter).messages);
  assert.equal(written.split(PICTURE_URL).length - 1, 3);
  assert.match(written, /"detail":"low"/);
  assert.doesNotMatch(written, /file_id/);
});

test('also where the upstream speaks the format itself', async () => {
  const file_id = await kept(PICTURE);
  const input = inputOf({ type: 'input_image', file_id });
  const answer = await post('/v1/responses', { model: 'passed', input });
  assert.equal(answer.status, 200, answer.text);
  const { requests } = speaker;
  assert.equal(requests.at(-1)?.path, '/v1/responses');
  assert.deepEqual(sentTo(speaker).input, inputOf({ type: 'input_image', image_url: PICTURE_URL }));
});

test('another account’s file is refused as one that is not there, and nothing is held or asked', async () => {
  const foreign = await kept(PICTURE, await paidCaller(gateway));
  const before = chatter.requests.length;
  const told = new Set<string>();
  for (const file_id of [foreign, 'file_unknown', 'file-abc', '']) {
    for (const [path, body, param] of [
      ['/v1/chat/completions', chatBody({ type: 'file', file: { file_id } }), 'messages[0].content[0].file.file_id'],
      [
        '/v1/responses',
        { model: 'model', input: inputOf({ type: 'input_image', file_id }) },
        'input[0].content[0].file_id',
      ],
      [
        '/v1/estimate',
        { endpoint: 'chat', ...chatBody({ type: 'file', file: { file_id } }) },
        'messages[0].content[0].file.file_id',
      ],
    ] as const) {
      const { status, json } = await post(path, body);
      assert.deepEqual([status, json.error.code, json.error.param], [404, 'file_not_found', param]);
      told.add(json.error.message);
    }
  }
  assert.equal(told.size, 1);
  assert.equal(chatter.requests.length, before);
  const { spent, reserved } = await moneyOf(gateway, caller);
  assert.deepEqual([spent, reserved], [0, 0]);
});

test('an app needs the scope of files to name one', async (t) => {
  const apps = await Apps.open(gateway);
  t.after(() => apps.close());
  const body = { model: 'model', input: inputOf({ type: 'input_image', file_id: await kept(PICTURE) }) };
  const answerTo = async (scopes: readonly string[]) => {
    const key = await apps.token(await apps.grant(caller.accountId, { scopes }));
    return gateway.call('POST', '/v1/responses', { key, body });
  };
  const { status, json } = await answerTo(['user:inference:chat']);
  assert.deepEqual([status, json.error.code], [403, 'insufficient_scope']);
  assert.equal((await answerTo(['user:inference:chat', 'user:files'])).status, 200);
});

test('what is no picture is no picture of a response', async () => {
  const file_id = await kept(await toneAs('wav', { seconds: 0.1 }));
  const { status, json } = await post('/v1/responses', {
    model: 'model',
    input: inputOf({ type: 'input_image', file_id }),
  });
  assert.deepEqual([status, json.error.code], [400, 'invalid_parameter']);
});

test('files beyond what one prompt may hold are refused', async () => {
  const file_id = await kept(pngOf({ bytes: 11 * 1024 * 1024 }));
  const part = { type: 'input_image', file_id };
  assert.equal((await post('/v1/responses', { model: 'model', input: inputOf(part) })).status, 200);
  const { status, json } = await post('/v1/responses', { model: 'model', input: inputOf(part, part) });
  assert.deepEqual([status, json.error.code, json.error.param], [413, 'file_too_large', 'input[0].content[1].file_id']);
});

test('R-278: an estimate counts a kept picture as one that is sent', async () => {
  const part = { type: 'input_image', file_id: await kept(PICTURE) };
  const estimate = async (content: Fields) =>
    (await post('/v1/estimate', { endpoint: 'responses', model: 'model', input: inputOf(content) })).json.credits;
  assert.equal(await estimate(part), await estimate({ type: 'input_image', image_url: PICTURE_URL }));
});
