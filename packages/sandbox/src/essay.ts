import { pick, type Random } from './random.ts';
import type { Answer } from './text.ts';

const SENTENCES_UNSTATED = 4;
const SENTENCES_MAX = 200;
const PARAGRAPHS_MAX = 50;
const WORDS_MAX = 3_000;
const TOPIC_WORDS_MAX = 8;
const TOPIC_CHARS_MAX = 120;

/** How long an answer shall be. */
export const LENGTH = /\b(\d{1,6}|two|three|four|five|ten)[- ](word|sentence|line|paragraph)s?\b/i;

/** A few made-up sentences about what was asked, as long as was asked ("in 100 words", "two paragraphs"). */
export function essay(text: string): Answer {
  const topic = topicOf(text);
  const [, amount = '', unit = ''] = LENGTH.exec(text) ?? [];
  const count = Math.max(1, SMALL_NUMBERS[amount.toLowerCase()] ?? Number(amount));
  const sentencesMost = Math.min(count, SENTENCES_MAX);
  switch (unit.toLowerCase()) {
    case 'word':
      return (random) => inWords(topic, Math.min(count, WORDS_MAX), random);
    case 'line':
      return (random) => sentences(topic, sentencesMost, random).join('\n');
    case 'sentence':
      return (random) => sentences(topic, sentencesMost, random).join(' ');
    case 'paragraph':
      return (random) => paragraphs(topic, Math.min(count, PARAGRAPHS_MAX), random);
    default:
      return (random) => sentences(topic, SENTENCES_UNSTATED, random).join(' ');
  }
}

function paragraphs(topic: string, count: number, random: Random): string {
  return Array.from({ length: count }, () => sentences(topic, SENTENCES_UNSTATED, random).join(' ')).join('\n\n');
}

const SMALL_NUMBERS: Readonly<Record<string, number>> = { two: 2, three: 3, four: 4, five: 5, ten: 10 };

const ABOUT = /\b(?:about|regarding|on the topic of)\s+([\s\S]+)$/i;
const NOUN_BEHIND =
  /^(?:what(?:['’]s| is| are| was| were)|who(?:['’]s| is| was| were)|explain|describe|define|discuss|summari[sz]e|tell me)\s+/i;
const PLAIN_WORDS_MAX = 3;

/** What a request is about, as a noun that a sentence can hold. */
export function topicOf(text: string): string {
  const [, about] = ABOUT.exec(text) ?? [];
  const isNoun = about !== undefined || NOUN_BEHIND.test(text);
  const [sentence = ''] = (about ?? text.replace(NOUN_BEHIND, ''))
    .trim()
    .split(/[.?!\n;:]|,? (?:in|using) (?:\d|two|three|four|five|ten)/);
  const words = sentence
    .replace(/[,"“”]+/g, '')
    .trim()
    .split(/\s+/);
  const topic = words.slice(0, TOPIC_WORDS_MAX).join(' ').slice(0, TOPIC_CHARS_MAX);
  if (topic === '') return 'that question';
  if (isNoun || words.length <= PLAIN_WORDS_MAX) return topic;
  return `the ${text.includes('?') ? 'question' : 'request'} “${topic}”`;
}

const OPENINGS = [
  'There is more to say about {topic} than first meets the eye.',
  'When it comes to {topic}, a good place to begin is with what can be seen.',
  'The short answer about {topic} is that it depends on where you stand.',
  'Much has been written about {topic}, and some of it is even true.',
] as const;

const MIDDLES = [
  'Those who know {topic} well speak of {noun} and {noun}.',
  'With {topic}, {noun} matters more than {noun}.',
  'A {quality} look at {topic} shows {noun} where few expect it.',
  'In practice, {noun} and {noun} decide how {topic} will be remembered.',
  'It helps to think of {topic} as a {quality} piece of {noun}.',
  'Nobody has yet found a {quality} way around the {noun} in {topic}.',
] as const;

const CLOSINGS = [
  'That is why {topic} will still be talked about tomorrow.',
  'In the end, every study of {topic} asks for {noun} and rewards it.',
  'So much for {topic}; ask on, and I will say more.',
  'All in all, it is best to meet {topic} with {quality} eyes.',
] as const;

const NOUNS = ['patience', 'timing', 'structure', 'curiosity', 'balance', 'detail', 'practice', 'context'] as const;
const QUALITIES = ['careful', 'simple', 'fresh', 'steady', 'practical', 'surprising'] as const;

function sentences(topic: string, count: number, random: Random): string[] {
  return Array.from({ length: count }, (_, at) => {
    const templates = at === 0 ? OPENINGS : at === count - 1 ? CLOSINGS : MIDDLES;
    return filled(pick(templates, random), topic, random);
  });
}

function filled(template: string, topic: string, random: Random): string {
  let noun = Math.floor(random() * NOUNS.length);
  return template.replace(/\{(\w+)\}/g, (_, slot: string) => {
    if (slot === 'topic') return topic;
    // The next one, so that no sentence weighs a thing against itself.
    return slot === 'noun' ? (NOUNS[noun++ % NOUNS.length] ?? NOUNS[0]) : pick(QUALITIES, random);
  });
}

function inWords(topic: string, count: number, random: Random): string {
  const words: string[] = [];
  while (words.length < count) words.push(...sentences(topic, SENTENCES_UNSTATED, random).join(' ').split(' '));
  return words
    .slice(0, count)
    .join(' ')
    .replace(/[,;.]?$/, '.');
}
