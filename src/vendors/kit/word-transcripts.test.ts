import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { JsonObject, JsonValue } from '../../json.ts';
import { transcriptOfWords } from './word-transcripts.ts';

type Item = readonly [text: string, start: number, end: number, beside?: JsonObject];

function answerOf(...items: readonly Item[]): JsonObject {
  const words = items.map(([text, start, end, beside]) => {
    const type = text.trim() === '' ? 'spacing' : 'word';
    return { text, start, end, type, logprob: 0, ...beside };
  });
  return { text: items.map(([text]) => text).join(''), words, language_code: 'eng' };
}

function segmentsOf(...items: readonly Item[]): unknown {
  return transcriptOfWords(answerOf(...items)).segments?.map(({ start, end, text }) => [text, start, end]);
}

describe('segments', () => {
  test('end with a sentence, and with what closes behind it', () => {
    assert.deepEqual(
      segmentsOf(
        ['“One', 0, 1],
        [' ', 1, 1],
        ['two.”', 1, 2],
        [' ', 2, 2],
        ['Three', 2, 3],
        [' ', 3, 3],
        ['3.5', 3, 4],
      ),
      [
        ['“One two.”', 0, 2],
        ['Three 3.5', 2, 4],
      ],
    );
  });

  test('end before a pause of a second, and not before a shorter one', () => {
    assert.deepEqual(segmentsOf(['a', 0, 1], [' ', 1, 2], ['b', 2, 3]), [
      ['a', 0, 1],
      ['b', 2, 3],
    ]);
    assert.deepEqual(segmentsOf(['a', 0, 1], [' ', 1, 1.99], ['b', 1.99, 3]), [['a b', 0, 3]]);
  });

  test('end where somebody else speaks', () => {
    const by = (speaker_id: string) => ({ speaker_id });
    assert.deepEqual(
      segmentsOf(['a', 0, 1, by('x')], [' ', 1, 1, by('x')], ['b', 1, 2, by('y')], ['c', 2, 3, by('y')]),
      [
        ['a', 0, 1],
        ['bc', 1, 3],
      ],
    );
  });

  test('keep languages without spaces as they are written', () => {
    assert.deepEqual(segmentsOf(['你', 0, 1], ['好。', 1, 2], ['再', 2, 3], ['见', 3, 4]), [
      ['你好。', 0, 2],
      ['再见', 2, 4],
    ]);
  });

  test('tell sounds that are no words, which the words do not', () => {
    const { segments, words } = transcriptOfWords(
      answerOf(['Ha', 0, 1], [' ', 1, 1], ['(laughter)', 1, 2, { type: 'audio_event' }]),
    );
    assert.deepEqual(segments, [{ text: 'Ha (laughter)', start: 0, end: 2 }]);
    assert.deepEqual(words, [{ word: 'Ha', start: 0, end: 1 }]);
  });
});

const CODES: readonly [code: JsonValue, language: string | undefined][] = [
  ['eng', 'en'],
  ['en', 'en'],
  ['deu', 'de'],
  ['cmn', 'zh'],
  ['yue', 'yue'],
  ['und', undefined],
  ['', undefined],
  ['not a code', undefined],
  [7, undefined],
];
for (const [code, language] of CODES) {
  test(`the language ${JSON.stringify(code)} is ${language ?? 'not told'}`, () => {
    assert.equal(transcriptOfWords({ text: 'x', language_code: code }).language, language);
  });
}

const HOSTILE: readonly [name: string, words: JsonValue][] = [
  ['no list', 'x'],
  ['nothing in it', []],
  ['no objects in it', [1, null, 'x', []]],
  ['words without times', [{ text: 'x', type: 'word' }]],
  ['times that are none', [{ text: 'x', type: 'word', start: -1, end: '2' }]],
  ['no texts', [{ type: 'word', start: 0, end: 1 }]],
];
for (const [name, words] of HOSTILE) {
  test(`an answer whose words are ${name} tells its text alone`, () => {
    assert.deepEqual(transcriptOfWords({ text: 'x', words, audio_duration_secs: -1 }), {
      text: 'x',
      language: undefined,
      seconds: undefined,
    });
  });
}

test('a word never ends before it begins', () => {
  assert.deepEqual(transcriptOfWords(answerOf(['a', 2, 1])).words, [{ word: 'a', start: 2, end: 2 }]);
});

test('R-428: an answer without a text is a transcript without text', () => {
  for (const answer of [{}, { text: null }, { message: 'Accepted', request_id: 'x' }, { transcripts: [] }]) {
    assert.equal(transcriptOfWords(answer).text, '');
  }
});

test('an error for an answer is no transcript', () => {
  for (const answer of [{ error: 'x' }, { detail: { status: 'x' } }]) {
    assert.throws(() => transcriptOfWords(answer), { fault: 'garbled' });
  }
});
