import assert from 'node:assert/strict';
import { test } from 'node:test';
import { imageOf, outcomeOf, refusalOf, soundOf, videoOf } from '../../test/support/media-bodies.ts';
import { type Accepts, asksForVoiceDesign, checkFits, narrowAccepts } from './fits.ts';

const NOTHING: Accepts = { resolutions: [], aspect_ratios: [], sizes: [], slots: [], voice_design: false };
const PICTURE_URL = 'https://pictures.example/a';

const image = (more: object) => imageOf({ model: 'm', prompt: 'p', ...more });
const video = (more: object) => videoOf({ model: 'm', prompt: 'p', ...more });
const sound = (more: object) => soundOf({ model: 'm', input: 'x', ...more });

const PHOTO: Accepts = {
  ...NOTHING,
  resolutions: ['1k', '2k'],
  aspect_ratios: ['1:1', '16:9', 'auto'],
  sizes: ['1024x1024', '1024x576', 'auto'],
  n_max: 4,
  slots: ['reference_images', 'mask'],
  formats: ['png', 'webp'],
};

for (const [more, told] of [
  [{}, undefined],
  [{ resolution: '2k', aspect_ratio: '16:9' }, undefined],
  [{ resolution: '4k' }, '"resolution": this model takes 1k, 2k.'],
  [{ resolution: 'constructor' }, '"resolution": this model takes 1k, 2k.'],
  [{ aspect_ratio: '9:16' }, '"aspect_ratio": this model takes 1:1, 16:9, auto.'],
  [{ size: 'auto' }, undefined],
  [{ size: '512x512' }, '"size": this model takes 1024x1024, 1024x576, auto.'],
  [{ n: 4 }, undefined],
  [{ n: 5 }, '"n": this model takes at most 4.'],
  [{ output_format: 'webp' }, undefined],
  [{ output_format: 'jpeg' }, '"output_format": this model takes png, webp.'],
  [{ reference_images: [PICTURE_URL], mask: PICTURE_URL }, undefined],
] as const) {
  test(`R-303 R-304 R-317 R-318: of an image model, ${JSON.stringify(more)} is ${told ?? 'taken'}`, () => {
    const refusal = refusalOf(() => checkFits(PHOTO, image(more)));
    assert.equal(refusal?.message, told);
    assert.equal(refusal?.code, told === undefined ? undefined : 'unsupported_parameter');
  });
}

for (const [more, told] of [
  [{ n: 10, output_format: 'jpeg', quality: 'hd', style: 'vivid', seed: 1, background: 'auto' }, undefined],
  [{ resolution: '1k' }, '"resolution": this model takes none.'],
  [{ aspect_ratio: '1:1' }, '"aspect_ratio": this model takes none.'],
  [{ size: '1024x1024' }, '"size": this model takes none.'],
  [{ size: 'auto' }, '"size": this model takes none.'],
  [{ reference_images: [PICTURE_URL] }, '"reference_images": this model takes none.'],
  [{ mask: PICTURE_URL }, '"mask": this model takes none.'],
] as const) {
  test(`R-303 R-318: of a model that publishes nothing, ${JSON.stringify(more)} is ${told ?? 'taken'}`, () => {
    assert.equal(refusalOf(() => checkFits(NOTHING, image(more)))?.message, told);
  });
}

test('R-303: an empty list of formats refuses every format, no list refuses none', () => {
  assert.equal(
    outcomeOf(() => checkFits({ ...NOTHING, formats: [] }, image({ output_format: 'png' }))),
    'unsupported_parameter',
  );
  assert.equal(
    outcomeOf(() => checkFits({ ...NOTHING, formats: [] }, image({}))),
    'taken',
  );
});

for (const [more, code] of [
  [{ size: '1024x576', aspect_ratio: '16:9' }, 'taken'],
  [{ size: '1024x1024', aspect_ratio: '16:9' }, 'conflicting_parameters'],
  [{ size: '1024x576', aspect_ratio: '1:1' }, 'conflicting_parameters'],
  [{ size: 'auto', aspect_ratio: '16:9' }, 'taken'],
  [{ size: '1024x576', aspect_ratio: 'auto' }, 'taken'],
] as const) {
  test(`R-307: ${JSON.stringify(more)} is ${code}`, () => {
    assert.equal(
      outcomeOf(() => checkFits(PHOTO, image(more))),
      code,
    );
  });
}

const CLIP: Accepts = {
  ...NOTHING,
  resolutions: ['480p', '720p', '1080p'],
  aspect_ratios: ['16:9', '9:16'],
  sizes: ['1280x720', '720x1280', '1920x1080'],
  seconds_max: 15,
  slots: ['first_frame', 'generate_audio'],
};

for (const [more, code] of [
  [{ resolution: '720p' }, 'taken'],
  [{ resolution: '4k' }, 'unsupported_parameter'],
  [{ size: '1280x720', resolution: '720p' }, 'taken'],
  [{ size: '720x1280', resolution: '720p' }, 'taken'],
  [{ size: '1280x720', resolution: '1080p' }, 'conflicting_parameters'],
  [{ size: '1280x720', aspect_ratio: '9:16' }, 'conflicting_parameters'],
  [{ size: '640x480' }, 'unsupported_parameter'],
  [{ aspect_ratio: '1:1' }, 'unsupported_parameter'],
  [{ seconds: 15 }, 'taken'],
  [{ seconds: 15.1 }, 'unsupported_parameter'],
  [{ seconds: 0 }, 'taken'],
] as const) {
  test(`R-350 R-351: of a video model, ${JSON.stringify(more)} is ${code}`, () => {
    assert.equal(
      outcomeOf(() => checkFits(CLIP, video(more))),
      code,
    );
  });
}

const SLOTS: Accepts['slots'] = [
  'first_frame',
  'last_frame',
  'input_reference',
  'reference_images',
  'reference_videos',
  'reference_audios',
  'ref_video',
  'generate_audio',
];

for (const [field, slot, value] of [
  ['input_reference', 'input_reference', PICTURE_URL],
  ['reference_image_urls', 'reference_images', [PICTURE_URL]],
  ['first_frame', 'first_frame', PICTURE_URL],
  ['last_frame', 'last_frame', PICTURE_URL],
  ['reference_videos', 'reference_videos', [PICTURE_URL]],
  ['reference_audios', 'reference_audios', [PICTURE_URL]],
  ['ref_video_url', 'ref_video', PICTURE_URL],
  ['generate_audio', 'generate_audio', true],
  ['generate_audio', 'generate_audio', false],
] as const) {
  test(`R-355 R-357 R-360 R-368: ${field} ${String(value)} needs the slot ${slot}, and no other will do`, () => {
    const request = video({ [field]: value });
    const others = SLOTS.filter((other) => other !== slot);
    const refusal = refusalOf(() => checkFits({ ...NOTHING, slots: others }, request));
    assert.equal(refusal?.code, 'unsupported_parameter');
    assert.equal(refusal.message, `"${field}": this model takes none.`);
    assert.equal(
      outcomeOf(() => checkFits({ ...NOTHING, slots: [slot] }, request)),
      'taken',
    );
  });
}

const SOUND_CASES: readonly (readonly [published: Partial<Accepts>, more: object, code: string])[] = [
  [{}, { n: 8, duration: 600, response_format: 'aac' }, 'taken'],
  [{ n_max: 2 }, { n: 2 }, 'taken'],
  [{ n_max: 2 }, { n: 3 }, 'unsupported_parameter'],
  [{ seconds_max: 60 }, { seconds: 60 }, 'taken'],
  [{ seconds_max: 60 }, { seconds: 60.5 }, 'unsupported_parameter'],
  [{ formats: ['mp3'] }, { response_format: 'mp3' }, 'taken'],
  [{ formats: ['mp3'] }, {}, 'taken'],
  [{ formats: ['mp3'] }, { format: 'wav' }, 'unsupported_parameter'],
  [{ voice_sample: 'required' }, { reference_audio: [PICTURE_URL] }, 'taken'],
  [{ voice_sample: 'required' }, {}, 'invalid_reference_audio'],
  [{ voice_sample: 'required' }, { voice: 'anna' }, 'invalid_reference_audio'],
  [{ voice_sample: 'required' }, { reference_audio: [PICTURE_URL, PICTURE_URL] }, 'invalid_reference_audio'],
  [
    { voice_sample: 'required' },
    { reference_audio: [PICTURE_URL], voice: 'data:audio/wav;base64,UklGRiQAAABXQVZF' },
    'invalid_reference_audio',
  ],
  [{}, { reference_audio: [PICTURE_URL] }, 'taken'],
  [{}, { voice_description: 'deep' }, 'taken'],
  [{}, { input: '', voice_description: 'deep' }, 'unsupported_parameter'],
  [{ voice_design: true }, { input: '', voice_description: 'deep' }, 'taken'],
];

for (const [published, more, code] of SOUND_CASES) {
  test(`R-394 R-396: of a sound model with ${JSON.stringify(published)}, ${JSON.stringify(more)} is ${code}`, () => {
    assert.equal(
      outcomeOf(() => checkFits({ ...NOTHING, ...published }, sound(more))),
      code,
    );
  });
}

test('R-394: voice design is a description without a voice, on a model that offers it', () => {
  const designs = { ...NOTHING, voice_design: true };
  const described = sound({ voice_description: 'deep' });
  assert.equal(asksForVoiceDesign(designs, described), true);
  assert.equal(asksForVoiceDesign(NOTHING, described), false);
  assert.equal(asksForVoiceDesign(designs, sound({})), false);
  assert.equal(asksForVoiceDesign(designs, sound({ voice_description: 'deep', voice: 'anna' })), false);
  assert.equal(asksForVoiceDesign(designs, sound({ voice_description: 'deep', reference_id: 'v' })), false);
});

test('R-317: a route takes what it names, and else what its model takes', () => {
  assert.deepEqual(narrowAccepts(PHOTO, {}), PHOTO);
  const route = narrowAccepts(PHOTO, { resolutions: ['1k'], slots: [], n_max: 1, voice_design: false });
  assert.deepEqual(route, { ...PHOTO, resolutions: ['1k'], slots: [], n_max: 1 });
  const wanted = image({ resolution: '2k' });
  assert.equal(
    outcomeOf(() => checkFits(PHOTO, wanted)),
    'taken',
  );
  assert.equal(
    outcomeOf(() => checkFits(route, wanted)),
    'unsupported_parameter',
  );
});
