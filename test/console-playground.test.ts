import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { runInNewContext } from 'node:vm';
import { PLAYGROUND_ENDPOINTS, type PlaygroundEndpoint } from '../console/src/api/endpoints.ts';
import type { CatalogueModel } from '../console/src/api/schema.ts';
import { bodyOf, draftOf, EMPTY_DRAFT, missingField } from '../console/src/pages/playground/draft.ts';
import { fieldsOf } from '../console/src/pages/playground/fields.ts';
import { linesOf, subRip, webVtt } from '../console/src/pages/transcriptions/lines.ts';
import { samplesOf } from '../console/src/samples/samples.ts';

const NOTHING: CatalogueModel['accepts'] = {
  slots: [],
  sizes: [],
  resolutions: [],
  aspect_ratios: [],
  qualities: null,
  n_max: 1,
  seconds_max: null,
  formats: null,
  voice_sample: 'optional',
  voice_design: false,
};

function model(accepts: Partial<CatalogueModel['accepts']>): CatalogueModel {
  return {
    id: 'studio/any',
    object: 'model',
    created: 0,
    owned_by: 'studio',
    modality: 'image',
    display_name: '',
    description: '',
    tags: [],
    endpoints: [...PLAYGROUND_ENDPOINTS],
    pricing: { mode: 'per_request', currency: 'usd', credits: { base: 1 }, unit: 'request' },
    context_tokens: null,
    max_output_tokens: null,
    accepts: { ...NOTHING, ...accepts },
    type: 'model',
    created_at: '1970-01-01T00:00:00.000Z',
  };
}

function namesOf(endpoint: PlaygroundEndpoint, accepts: Partial<CatalogueModel['accepts']>): readonly string[] {
  return fieldsOf(endpoint, model(accepts)).map(({ name }) => name);
}

test('R-522: the form offers what the model accepts, and nothing else', () => {
  assert.deepEqual(namesOf('images', {}), ['prompt', 'seed']);
  const wide = { sizes: ['1x1'], qualities: ['low'], n_max: 4, formats: ['png'], slots: ['reference_images', 'mask'] };
  assert.deepEqual(namesOf('images', wide), [
    'prompt',
    'reference_images',
    'size',
    'quality',
    'n',
    'output_format',
    'seed',
  ]);
  assert.deepEqual(namesOf('image_edits', { slots: ['reference_images', 'mask'] }), [
    'prompt',
    'reference_images',
    'mask',
    'seed',
  ]);
  assert.deepEqual(namesOf('videos', { slots: ['last_frame', 'ref_video', 'generate_audio'] }), [
    'prompt',
    'seconds',
    'last_frame',
    'ref_video_url',
    'generate_audio',
    'seed',
  ]);
  assert.deepEqual(namesOf('audio_speech', {}), ['input', 'voice']);
  assert.deepEqual(namesOf('audio_speech', { voice_sample: 'required' }), ['input', 'reference_audio']);
  assert.deepEqual(namesOf('audio_speech', { voice_design: true }), ['voice_description', 'input']);
});

test('R-522: what was filled in for another model is not sent to one that does not take it', () => {
  const fields = fieldsOf('images', model({ resolutions: ['1k'] }));
  const draft = { ...EMPTY_DRAFT, fields: { prompt: 'a gate', resolution: '4k', n: 3, lyrics: 'la' } };
  assert.deepEqual(bodyOf('images', 'studio/any', fields, draft), { model: 'studio/any', prompt: 'a gate' });
});

const BODIES: readonly (readonly [PlaygroundEndpoint, object])[] = [
  ['images', { model: 'm', prompt: 'a gate', reference_images: ['https://a.example/1.png'], seed: 7, style: 'vivid' }],
  ['image_edits', { model: 'm', prompt: 'p', reference_images: ['https://a.example/1'], mask: 'https://a.example/m' }],
  [
    'videos',
    { model: 'm', seconds: 2.5, first_frame: 'https://a.example/f', generate_audio: true, extra: { zoom: 1 } },
  ],
  ['audio_music', { model: 'm', prompt: 'a waltz', duration_seconds: 8, instrumental: true }],
  ['audio_speech', { model: 'm', input: 'Hello', voice: 'anna' }],
  [
    'chat',
    {
      model: 'm',
      temperature: 0.5,
      messages: [
        { role: 'system', content: 'Be short.' },
        { role: 'user', content: 'One' },
        { role: 'assistant', content: '1' },
        { role: 'user', content: 'Two' },
      ],
      stream: true,
      stream_options: { include_usage: true },
    },
  ],
];

for (const [endpoint, body] of BODIES) {
  test(`R-522: a call of ${endpoint} that is filled in again is the same call`, () => {
    const slots = ['reference_images', 'mask', 'first_frame', 'generate_audio'];
    const fields = fieldsOf(endpoint, model({ slots }));
    const draft = draftOf(endpoint, fields, { ...body });
    assert.deepEqual(bodyOf(endpoint, 'm', fields, draft), body);
    assert.equal(missingField(endpoint, fields, draft), undefined);
  });
}

test('R-522: a call that lacks what it needs names it', () => {
  const missing = (endpoint: PlaygroundEndpoint) => missingField(endpoint, fieldsOf(endpoint, model({})), EMPTY_DRAFT);
  assert.deepEqual(PLAYGROUND_ENDPOINTS.map(missing), [
    'message',
    'prompt',
    'prompt',
    'prompt',
    'input',
    'prompt',
    'clip',
  ]);
});

const AWKWARD = { model: 'm', prompt: `it's "quoted" \\ $HOME \`id\`\nüñ`, n: 2, nested: [{ on: true, none: null }] };

test('R-522: awkward texts come through the shell as they were written', async () => {
  const { curl = '' } = samplesOf({ endpoint: 'audio_speech', body: AWKWARD, origin: 'http://gate.example' });
  const script = `curl() { printf '%s\\0' "$@"; }\n${curl}`;
  const { stdout } = await promisify(execFile)('bash', ['-euc', script], { env: { TOLLGATE_KEY: 'k' } });
  const sent = stdout.split('\0');
  assert.deepEqual(JSON.parse(sent[sent.indexOf('-d') + 1] ?? ''), AWKWARD);
  assert.ok(sent.includes('Authorization: Bearer k') && sent.includes('http://gate.example/v1/audio/speech'));
});

test('R-522: awkward texts come through TypeScript as they were written', () => {
  const { TypeScript = '' } = samplesOf({ endpoint: 'images', body: AWKWARD, origin: 'http://gate.example' });
  const literal = /JSON\.stringify\((\{[\s\S]*?\n {2}\})\),\n\}\);/.exec(TypeScript)?.[1] ?? assert.fail(TypeScript);
  assert.deepEqual(runInNewContext(`JSON.stringify(${literal})`), JSON.stringify(AWKWARD));
});

test('a transcript becomes subtitles, line by line', () => {
  const segment = {
    id: 0,
    seek: 0,
    tokens: [],
    temperature: 0,
    avg_logprob: 0,
    compression_ratio: 0,
    no_speech_prob: 0,
  };
  const segments = [
    { ...segment, start: 0.5, end: 2, text: ' Good morning. ' },
    { ...segment, start: 3661.25, end: 3662, text: 'The gate.' },
  ];
  const words = [
    { word: 'Good', start: 0.4, end: 0.8 },
    { word: 'morning.', start: 0.9, end: 2 },
  ];
  const lines = linesOf({ segments, words });
  assert.deepEqual(
    lines.map((line) => line.words.map(({ text }) => text)),
    [['Good', 'morning.'], ['The gate.']],
  );
  assert.equal(
    subRip(lines),
    '1\n00:00:00,500 --> 00:00:02,000\nGood morning.\n\n2\n01:01:01,250 --> 01:01:02,000\nThe gate.\n',
  );
  assert.match(webVtt(lines), /^WEBVTT\n\n00:00:00\.500 --> 00:00:02\.000\nGood morning\.\n/);
  assert.deepEqual(linesOf({}), []);
});
