import assert from 'node:assert/strict';
import { test } from 'node:test';
import { outcomeOf, PNG, refusalOf, videoOf } from '../../test/support/media-bodies.ts';
import { plainVideo } from '../../test/support/plain-requests.ts';

const LEAST = { model: 'studio/clip', prompt: 'a wave' };
const outcome = (more: object) => outcomeOf(() => videoOf({ ...LEAST, ...more }));
const picture = (name: string) => `https://pictures.example/${name}`;
const at = (name: string) => ({ from: 'url', url: picture(name) });

test('R-342: the least that can be asked becomes a whole request', () => {
  assert.deepEqual(videoOf(LEAST), plainVideo(LEAST));
});

test('R-348 R-350 R-352 R-353 R-354 R-355 R-367: every field is kept with its type and every picture in its slot', () => {
  const body = {
    ...LEAST,
    seconds: 4.5,
    resolution: '720p',
    size: '1280x720',
    aspect_ratio: '16:9',
    fps: 24,
    seed: 42,
    negative_prompt: 'sand',
    camera_fixed: true,
    watermark: false,
    generate_audio: true,
    input_reference: picture('reference'),
    reference_image_urls: [picture('one'), { b64: PNG.toString('base64') }],
    first_frame: { url: picture('first') },
    last_frame: picture('last'),
    reference_videos: [picture('clip.mp4')],
    reference_audios: [picture('sound.mp3')],
    ref_video_url: picture('source.mp4'),
    guidance: 7,
  };
  assert.deepEqual(videoOf(body), {
    kind: 'video',
    ...LEAST,
    seconds: 4.5,
    resolution: '720p',
    size: '1280x720',
    aspectRatio: '16:9',
    fps: 24,
    seed: 42,
    negativePrompt: 'sand',
    cameraFixed: true,
    watermark: false,
    generateAudio: true,
    inputReference: at('reference'),
    referenceImages: [at('one'), { from: 'bytes', bytes: PNG }],
    firstFrame: at('first'),
    lastFrame: at('last'),
    referenceVideos: [at('clip.mp4')],
    referenceAudios: [at('sound.mp3')],
    sourceVideo: at('source.mp4'),
    extra: { guidance: 7 },
  });
});

for (const [body, code] of [
  [{ prompt: 'p' }, 'missing_model'],
  [{ model: '', seconds: -1 }, 'missing_model'],
  [{ model: 'm' }, 'missing_prompt'],
  [{ model: 'm', prompt: '' }, 'missing_prompt'],
  [{ model: 'm', prompt: null }, 'missing_prompt'],
  [{ model: 'm', prompt: 5 }, 'missing_prompt'],
  [{ model: 'm', seconds: -1 }, 'missing_prompt'],
  [{ model: 'm', last_frame: picture('last') }, 'missing_prompt'],
  [{ model: 'm', reference_image_urls: [] }, 'missing_prompt'],
  [{ model: 'm', reference_videos: [], reference_audios: null }, 'missing_prompt'],
  [{ model: 'm', prompt: 5, first_frame: picture('first') }, 'invalid_parameter'],
] as const) {
  test(`R-345 R-346: ${JSON.stringify(body)} is refused as ${code}`, () => {
    assert.equal(
      outcomeOf(() => videoOf(body)),
      code,
    );
  });
}

for (const media of [
  { input_reference: picture('a') },
  { reference_image_urls: [picture('a')] },
  { first_frame: picture('a') },
  { image: picture('a') },
  { image_url: picture('a') },
  { reference_videos: [picture('a')] },
  { reference_audios: [picture('a')] },
  { ref_video_url: picture('a') },
  { video_url: picture('a') },
]) {
  test(`R-346 R-347: ${Object.keys(media).join()} needs no prompt`, () => {
    assert.equal(videoOf({ model: 'm', ...media }).prompt, undefined);
    assert.equal(videoOf({ model: 'm', prompt: '', ...media }).prompt, undefined);
  });
}

for (const name of ['seconds', 'duration']) {
  for (const [given, seconds] of [
    [5, 5],
    ['8', 8],
    ['2.5', 2.5],
    [0, undefined],
    ['0', undefined],
    [86_400, 86_400],
  ] as const) {
    test(`R-348 R-349: ${name} ${JSON.stringify(given)} is ${seconds ?? 'the model’s own length'}`, () => {
      assert.equal(videoOf({ ...LEAST, [name]: given }).seconds, seconds);
    });
  }
  for (const given of [-1, -0.001, 86_401, '-1', 'long', '', ' 5', '5s', '0x5', '1e3', true, [], {}, '86401']) {
    test(`R-348 R-349: ${name} ${JSON.stringify(given)} is refused`, () => {
      assert.equal(outcome({ [name]: given }), 'invalid_seconds');
    });
  }
}

for (const [more, code] of [
  [{ seconds: 4, duration: 4 }, 'taken'],
  [{ seconds: 4, duration: '4' }, 'taken'],
  [{ seconds: 4, duration: null }, 'taken'],
  [{ seconds: 4, duration: 5 }, 'conflicting_parameters'],
  [{ seconds: 0, duration: 5 }, 'conflicting_parameters'],
  [{ aspect_ratio: '16:9', ratio: '16:9' }, 'taken'],
  [{ aspect_ratio: '16:9', ratio: '9:16' }, 'conflicting_parameters'],
  [{ first_frame: picture('a'), image: picture('a'), image_url: picture('a') }, 'taken'],
  [{ first_frame: picture('a'), image: picture('b') }, 'conflicting_parameters'],
  [{ first_frame: picture('a'), image_url: picture('b') }, 'conflicting_parameters'],
  [{ image: picture('a'), image_url: picture('b') }, 'conflicting_parameters'],
  [{ ref_video_url: picture('a'), video_url: picture('a') }, 'taken'],
  [{ ref_video_url: picture('a'), video_url: picture('b') }, 'conflicting_parameters'],
] as const) {
  test(`R-349 R-352 R-358 R-359 R-363: ${JSON.stringify(more)} is ${code}`, () => assert.equal(outcome(more), code));
}

test('R-352 R-358 R-359 R-363: each alias is its field', () => {
  const { aspectRatio, sourceVideo } = videoOf({ ...LEAST, ratio: '1:1', video_url: picture('v') });
  assert.deepEqual([aspectRatio, sourceVideo], ['1:1', at('v')]);
  for (const name of ['first_frame', 'image', 'image_url']) {
    assert.deepEqual(videoOf({ ...LEAST, [name]: picture('f') }).firstFrame, at('f'));
  }
});

test('R-356 R-367: an input reference is no frame, and a frame no reference', () => {
  const referenced = videoOf({ ...LEAST, input_reference: picture('a') });
  assert.deepEqual([referenced.inputReference, referenced.firstFrame], [at('a'), undefined]);
  const framed = videoOf({ ...LEAST, image: picture('a') });
  assert.deepEqual([framed.inputReference, framed.firstFrame, framed.referenceImages], [undefined, at('a'), []]);
});

for (const [more, code] of [
  [{ fps: 24 }, 'taken'],
  [{ fps: 0 }, 'taken'],
  [{ fps: -1 }, 'invalid_fps'],
  [{ fps: 23.9 }, 'invalid_fps'],
  [{ fps: '24' }, 'invalid_fps'],
  [{ seed: 1.5 }, 'invalid_parameter'],
  [{ camera_fixed: 'true' }, 'invalid_parameter'],
  [{ watermark: 0 }, 'invalid_parameter'],
  [{ generate_audio: 'yes' }, 'invalid_parameter'],
  [{ negative_prompt: 5 }, 'invalid_parameter'],
  [{ resolution: 720 }, 'invalid_parameter'],
  [{ size: '1280*720' }, 'invalid_parameter'],
  [{ extra: {} }, 'taken'],
  [{ extra: null }, 'taken'],
  [{ extra: 'x' }, 'invalid_parameter'],
  [{ extra: [1] }, 'invalid_parameter'],
  [{ extra: 5 }, 'invalid_parameter'],
] as const) {
  test(`R-353 R-354 R-355 R-364: ${JSON.stringify(more)} is ${code}`, () => assert.equal(outcome(more), code));
}

for (const name of ['reference_videos', 'reference_audios']) {
  for (const [given, code] of [
    [[picture('a')], 'taken'],
    [picture('a'), 'invalid_input_reference'],
    [[{ url: picture('a') }], 'invalid_input_reference'],
    [[{ b64: 'QUJD' }], 'invalid_input_reference'],
    [[5], 'invalid_input_reference'],
    [[''], 'invalid_input_reference'],
    [[PNG.toString('base64')], 'invalid_media_url'],
    [['data:video/mp4;base64,QUJD'], 'unsupported_media_url_scheme'],
    [['ftp://pictures.example/a'], 'unsupported_media_url_scheme'],
    [['https://'], 'invalid_media_url'],
  ] as const) {
    test(`R-361 R-362: ${name} ${JSON.stringify(given)} is ${code}`, () => {
      assert.equal(outcome({ [name]: given }), code);
    });
  }
}

for (const [given, code] of [
  [picture('a.mp4'), 'taken'],
  ['data:video/mp4;base64,QUJD', 'taken'],
  ['data:video/mp4;base64,', 'invalid_media_url'],
  [{ url: picture('a.mp4') }, 'invalid_input_reference'],
  ['', 'invalid_input_reference'],
  ['QUJD', 'invalid_media_url'],
  ['rtsp://pictures.example/a', 'unsupported_media_url_scheme'],
] as const) {
  test(`R-363: the source clip ${JSON.stringify(given)} is ${code}`, () => {
    assert.equal(outcome({ ref_video_url: given }), code);
  });
}

for (const name of ['input_reference', 'first_frame', 'image', 'image_url', 'last_frame']) {
  test(`R-366: what is no picture is refused in ${name}`, () => {
    assert.equal(outcome({ [name]: 5 }), 'invalid_input_reference');
    assert.equal(outcome({ [name]: 'a kitten' }), 'invalid_input_reference');
    assert.equal(outcome({ [name]: [picture('a')] }), 'invalid_input_reference');
  });
}

test('R-369 R-370: at the top level and in extra is the same, and the top level wins', () => {
  const text = '{"model":"m","prompt":"p","camera":{"zoom":1.0},"extra":{"camera":{"zoom":2},"guidance":1.50}}';
  assert.equal(JSON.stringify(videoOf(text).extra), '{"camera":{"zoom":1.0},"guidance":1.50}');
});

test('R-370: a modelled field in extra gives way to the top level', () => {
  const { seed, model, extra } = videoOf({ ...LEAST, seed: 1, extra: { seed: 2, model: 'other', camera: 'x' } });
  assert.deepEqual([seed, model, extra], [1, LEAST.model, { camera: 'x' }]);
});

for (const extra of [{ seconds: 60 }, { duration: 60 }, { resolution: '4k' }, { image: picture('a') }]) {
  const [name] = Object.keys(extra);
  test(`R-370: "${name}" in extra alone is refused, because there it would escape the checks and the price`, () => {
    const refusal = refusalOf(() => videoOf({ ...LEAST, extra }));
    assert.equal(refusal?.code, 'unsupported_parameter');
    assert.equal(refusal.message, `"extra.${name}": give "${name}" at the top level.`);
  });
}
