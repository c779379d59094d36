import type { Random } from './text.ts';

const SENTENCES_UNSTATED = 4;
const SENTENCES_MAX = 200;
const WORDS_MAX = 3_000;
const TOPIC_WORDS_MAX = 8;

/** A few made-up sentences about what was asked, as long as was asked ("in 100 words", "two paragraphs"). */
export function essay(text: string, random: Random): string {
  const topic = topicOf(text);
  const [, amount, unit] =
    /\b(\d{1,6}|two|three|four|five|ten)[- ](word|sentence|line|paragraph)s?\b/i.exec(text) ?? [];
  if (amount === undefined || unit === undefined) return sentences(topic, SENTENCES_UNSTATED, random).join(' ');
  const count = Math.max(1, SMALL_NUMBERS[amount.toLowerCase()] ?? Number(amount));
  switch (unit.toLowerCase()) {
    case 'word':
      return inWords(topic, Math.min(count, WORDS_MAX), random);
    case 'line':
      return sentences(topic, Math.min(count, SENTENCES_MAX), random).join('\n');
    case 'paragraph':
      return Array.from({ length: Math.min(count, SENTENCES_MAX / SENTENCES_UNSTATED) }, () =>
        sentences(topic, SENTENCES_UNSTATED, random).join(' '),
      ).join('\n\n');
    default:
      return sentences(topic, Math.min(count, SENTENCES_MAX), random).join(' ');
  }
}

const SMALL_NUMBERS: Readonly<Record<string, number>> = { two: 2, three: 3, four: 4, five: 5, ten: 10 };

const ASKING =
  /^(?:(?:what|who|where|when|why|how|which|is|are|was|were|do|does|did|can|could|should|will|would|i|you|we|me|to|tell|explain|describe|discuss|write|give|compose|summari[sz]e|translate|think|know|please|some|something|the|a|an)(?:['’]s|['’]re)?\b\s*)+/i;

/** What a request is about, in its own words. */
export function topicOf(text: string): string {
  const [, about] = /\b(?:about|regarding|on the topic of)\s+([\s\S]+)$/i.exec(text) ?? [];
  const rest = (about ?? text)
    .trim()
    .replace(/^(?:the|a|an)\s+/i, '')
    .replace(about === undefined ? ASKING : '', '');
  const [sentence = ''] = rest.split(/[.?!\n;]|,? (?:in|using|with) (?:\d|two|three|four|five|ten)/);
  const words = sentence.trim().split(/\s+/).slice(0, TOPIC_WORDS_MAX).join(' ').slice(0, 120);
  return words.replace(/[,:"“”]+/g, '').trim() || 'that question';
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
  'In the end, {topic} asks for {noun} and rewards it.',
  'So much for {topic}; ask on, and I will say more.',
  'All in all, {topic} is best met with {quality} eyes.',
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

/** One of several, as the series decides. */
export function pick<Item>(items: readonly [Item, ...Item[]], random: Random): Item {
  return items[Math.floor(random() * items.length)] ?? items[0];
}
