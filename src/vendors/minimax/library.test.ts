import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { MiniMaxSDK } from 'mmx-cli/sdk';
import { KEY, SOUND } from './emulator/calls.ts';
import { MinimaxEmulator } from './emulator.ts';

const PICTURE = 'data:image/png;base64,cA==';
const AT_ONCE = { pollInterval: 0.001 };

describe('the vendor’s own library takes the emulator for the vendor', () => {
  let emulator: MinimaxEmulator;
  let library: MiniMaxSDK;
  beforeEach(async () => {
    emulator = new MinimaxEmulator(KEY, { picture: Buffer.from('p'), clip: Buffer.from('c'), sound: SOUND });
    await emulator.start();
    library = libraryOf(KEY);
  });
  afterEach(() => emulator.stop());
  const libraryOf = (apiKey: string) => new MiniMaxSDK({ apiKey, baseUrl: emulator.url });

  test('clips of the first version are polled to their end, and their file is told', async () => {
    emulator.readsUntilDone = 2;
    const frames = { first_frame_image: PICTURE, last_frame_image: PICTURE };
    const task = await library.video.generate({ prompt: 'Waves', ...frames, ...AT_ONCE });
    assert.ok('file_id' in task && task.file_id !== undefined && task.status === 'Success', JSON.stringify(task));
    const { file } = await library.file.retrieve(task.file_id);
    assert.equal(await (await fetch(file.download_url ?? '')).text(), 'c');
    const character = [{ type: 'character', image: [PICTURE] }];
    const { taskId } = await library.video.generate({ prompt: 'Hi', subject_reference: character, async: true });
    const begun = await library.video.getTask({ taskId, model: 'S2V-01' });
    assert.equal(begun.status, 'Queueing');
  });

  test('clips of the second version: from words, by a frame without a role, by references', async () => {
    const text = { type: 'text', text: 'Waves' } as const;
    const image = { type: 'image_url', image_url: { url: PICTURE } } as const;
    const clip = {
      type: 'video_url',
      video_url: { url: 'https://clips.example/a.mp4' },
      role: 'reference_video',
    } as const;
    const contents = [[text], [text, image], [text, { ...image, role: 'reference_image' as const }, clip]];
    for (const content of contents) {
      const task = await library.video.generate({ model: 'MiniMax-H3', content, duration: 6, ...AT_ONCE });
      assert.ok('content' in task && task.status === 'succeeded', JSON.stringify(task));
      assert.equal(await (await fetch(task.content?.url ?? '')).text(), 'c');
      assert.equal(task.usage?.output_seconds, 6);
    }
  });

  test('pictures, speech, voices and transcripts', async () => {
    const subject = [{ type: 'character', image_file: PICTURE }];
    const asked = { model: 'image-01', prompt: 'A gate', n: 2, aspect_ratio: '16:9', seed: 7 } as const;
    const { data } = await library.image.generate({ ...asked, subject_reference: subject, aigc_watermark: false });
    assert.deepEqual([data.image_urls?.length, data.success_count], [2, 2]);
    const inline = await library.image.generate({ ...asked, response_format: 'base64' });
    assert.deepEqual(inline.data.image_base64, ['cA==', 'cA==']);

    const voice = { voice_id: 'English_Graceful_Lady', speed: 1.2, text_normalization: true, latex_read: false };
    const dictionary = { tone: ['toll/(t əʊ l)'] };
    const speech = await library.speech.synthesize({
      text: 'Hello',
      voice_setting: voice,
      pronunciation_dict: dictionary,
    });
    assert.deepEqual(Buffer.from(speech.data.audio ?? '', 'hex'), SOUND);
    assert.deepEqual(
      (await library.speech.voices()).map(({ voice_id }) => voice_id),
      ['English_Graceful_Lady'],
    );

    const file = new File([SOUND], 'a.mp3', { type: 'audio/mpeg' });
    const told = { file, language: 'en', response_format: 'verbose_json', timestamp_level: 'sentence' } as const;
    const heard = await library.speech.transcribe(told);
    assert.deepEqual([heard.text, heard.segments?.length], ['A toll gate.', 1]);
    assert.equal(emulator.requests.at(-1)?.headers.language, 'en');
  });

  test('a task that failed and each refusal are errors', async () => {
    const film = (fields: object = {}, by = library) => by.video.generate({ prompt: 'Waves', ...AT_ONCE, ...fields });
    emulator.endings.push('sensitive', 'sensitive');
    await assert.rejects(film(), /content moderation/);
    await assert.rejects(film({ model: 'MiniMax-H3' }), /marker/);
    await assert.rejects(film({ prompt: 'forbidden' }), /sensitivity filter/);
    await assert.rejects(film({ prompt: 'forbidden', model: 'MiniMax-H3' }), /sensitivity filter/);
    await assert.rejects(film({ model: 'MiniMax-9' }), /invalid params/);
    await assert.rejects(film({}, libraryOf('other')), /invalid api key/);
    await assert.rejects(film({ model: 'MiniMax-H3' }, libraryOf('other')), /API key rejected/);
    emulator.isBusy = true;
    await assert.rejects(film({ model: 'MiniMax-H3' }), /Rate limit/);
    emulator.isBroke = true;
    await assert.rejects(film({ model: 'MiniMax-H3' }), /balance exhausted/);
    await assert.rejects(library.image.generate({ prompt: 'A gate' }), /insufficient balance/);
  });
});
