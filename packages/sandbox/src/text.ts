import { answerArithmetic } from './arithmetic.ts';
import { essay, LENGTH } from './essay.ts';
import type { Random } from './random.ts';

/** One message of a conversation, as far as the generator reads it. */
export interface Turn {
  readonly role: 'system' | 'user' | 'model' | 'tool';
  readonly text: string;
  /** What was attached, in words. */
  readonly media: readonly string[];
  /** The tool whose result this is; '' for every other turn. */
  readonly tool: string;
}

// Enough for everything that is read as a request; the rest of a long text is only material.
const ASKED_CHARS_MAX = 4_000;
const REPEATS_MAX = 1_000;
const ANSWER_CHARS_MAX = 24_000;
const RESULTS_MAX = 20;
const REMEMBERED_TURNS_MAX = 100;

interface Question {
  readonly text: string;
  /** What is to be done: the text without what stands in quotes or behind a colon. */
  readonly order: string;
  /** What it is to be done with, where quotes or a colon tell it. */
  readonly object: string | undefined;
  readonly turns: readonly Turn[];
}

/** An answer that is understood; what is left open in it the series decides. */
export type Answer = (random: Random) => string;

/** Understands the last thing said, once for however many answers. The same turns and series give the same text. */
export function answerTo(turns: readonly Turn[]): Answer {
  const results = turns.slice(turns.findLastIndex((turn) => turn.role !== 'tool') + 1).slice(-RESULTS_MAX);
  const answer = results.length > 0 ? always(results.map(resultInWords).join(' ')) : answerUser(turns);
  const isLoud = wantsCapitals(turns);
  return (random) => {
    const text = answer(random).slice(0, ANSWER_CHARS_MAX);
    return isLoud ? text.toUpperCase() : text;
  };
}

function always(text: string): Answer {
  return () => text;
}

/** What the last user said. */
export function lastWords(turns: readonly Turn[]): string {
  return (turns.findLast((turn) => turn.role === 'user')?.text ?? '').slice(0, ASKED_CHARS_MAX).trim();
}

function answerUser(turns: readonly Turn[]): Answer {
  const media = turns.findLast((turn) => turn.role === 'user')?.media ?? [];
  const seen = media.length === 0 ? '' : `I was given ${media.join(' and ')}. `;
  const text = lastWords(turns);
  if (text === '') return always(seen === '' ? 'I am listening. Ask me something.' : seen.trimEnd());
  const question = { ...partsOf(text), turns };
  for (const skill of SKILLS) {
    const answer = skill(question);
    if (answer !== undefined) return always(seen + answer);
  }
  const open = list(question) ?? essay(text);
  return (random) => seen + open(random);
}

const POLITE = /^(?:(?:please|kindly|now|ok|okay|hey|can you|could you|would you|will you|i want you to)[\s,]+)+/i;
const QUOTED = /"([^"]+)"|“([^”]+)”|«([^»]+)»|`([^`]+)`|(?<!\w)'([^']+)'(?!\w)/;

function partsOf(text: string): Pick<Question, 'text' | 'order' | 'object'> {
  const plain = text.replace(POLITE, '');
  const [whole, ...groups] = QUOTED.exec(plain) ?? [];
  if (whole !== undefined) {
    return { text: plain, order: plain.replace(whole, '').trim(), object: groups.find((group) => group !== undefined) };
  }
  const [, order, object] = /^([^:\n]{1,80})(?::\s+|\n+)([\s\S]+)$/.exec(plain) ?? [];
  return { text: plain, order: order?.trim() ?? plain, object: object?.trim() };
}

type Skill = (question: Question) => string | undefined;

const SKILLS: readonly Skill[] = [
  countWords,
  changeLetters,
  repeat,
  ({ text }) => answerArithmetic(text),
  greet,
  introduce,
  rememberName,
];

const LETTER_CHANGES: readonly (readonly [RegExp, (text: string) => string])[] = [
  [/\b(?:upper[- ]?case|all caps|capital letters|capitals|capitali[sz]e)\b/i, (text) => text.toUpperCase()],
  [/\b(?:lower[- ]?case|small letters)\b/i, (text) => text.toLowerCase()],
  [/\b(?:reverse|backwards?)\b/i, (text) => charactersOf(text).reverse().join('')],
];

const segmenter = new Intl.Segmenter();

/** As a reader counts them: a letter with its accents is one, and so is a flag. */
function charactersOf(text: string): string[] {
  return Array.from(segmenter.segment(text), ({ segment }) => segment);
}

const DO_WITH = /^(?:convert|turn|change|write|put|make|say|spell|print|transform|repeat|reverse|give me)\b\s*/i;
const NAMED_TEXT = /^(?:(?:the|this|these)\s+)?(?:following\s+)?(?:words?|text|phrase|sentence|string)\b\s*/i;

function changeLetters({ order, object }: Question): string | undefined {
  const [pattern, change] = LETTER_CHANGES.find(([pattern]) => pattern.test(order)) ?? [];
  if (pattern === undefined || change === undefined) return undefined;
  if (object !== undefined) return change(object);
  if (!DO_WITH.test(order) && order.search(pattern) !== 0) return undefined;
  const command = new RegExp(`(?:\\b(?:to|into|in|as|all)\\s+)*${pattern.source}`, 'gi');
  const rest = order.replace(DO_WITH, '').replace(command, '').trim().replace(NAMED_TEXT, '');
  const words = rest.replace(/[\s.?!]+$/, '').trim();
  return words === '' ? undefined : change(words);
}

function countWords({ text, order, object }: Question): string | undefined {
  const [, unit] = /\b(?:count|how many)\b.*?\b(word|letter|character)s?\b/i.exec(order) ?? [];
  if (unit === undefined) return undefined;
  const [, rest] = /\b(?:in|of)\s+(?!this|my|the message|the text)([\s\S]+)$/i.exec(order) ?? [];
  const named = rest?.replace(NAMED_TEXT, '').replace(/[\s.?!]+$/, '');
  const counted = object ?? named ?? text;
  const count = countOf(unit.toLowerCase(), counted);
  const subject = counted.length > 80 ? 'that text' : `“${counted}”`;
  return `There ${count === 1 ? 'is' : 'are'} ${count} ${unit.toLowerCase()}${count === 1 ? '' : 's'} in ${subject}.`;
}

function countOf(unit: string, text: string): number {
  if (unit === 'word') return text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  return unit === 'letter' ? (text.match(/\p{L}/gu)?.length ?? 0) : charactersOf(text).length;
}

const REPEAT =
  /^(?:repeat|echo|say)\b(?:\s+(?:after me|exactly|only))*\s*|^(?:reply|respond|answer)(?: only)? with\b\s*(?:(?:exactly|only|just)\b\s*)*/i;
const TIMES = /[\s,]*\b(\d{1,6}|twice|two|three|four|five|six|seven|eight|nine|ten)(?: times)?[.!]*$/i;

function repeat({ order, object }: Question): string | undefined {
  if (!REPEAT.test(order)) return undefined;
  const rest = order.replace(REPEAT, '').replace(NAMED_TEXT, '');
  const [timed, amount] = /\btimes|twice\b/i.test(order) ? (TIMES.exec(order) ?? []) : [];
  const words = object ?? (timed === undefined ? rest : rest.replace(timed, ''));
  if (words === '') return undefined;
  const times = Math.min(amount === undefined ? 1 : numberOf(amount), REPEATS_MAX, ANSWER_CHARS_MAX / words.length + 1);
  return Array.from({ length: Math.floor(times) }, () => words).join(' ');
}

function greet({ text, turns }: Question): string | undefined {
  if (/^(?:thanks|thank you|thx)\b/i.test(text)) return 'You are welcome. Ask me anything else you like.';
  if (/^how are you\b/i.test(text)) return 'I am well, thank you. What can I do for you?';
  const [, greeting] =
    /^(hi|hello|hey|greetings|good (?:morning|afternoon|evening|day))\b[^?:]{0,40}$/i.exec(text) ?? [];
  if (greeting === undefined) return undefined;
  const name = nameIn(turns);
  const first = greeting.charAt(0).toUpperCase() + greeting.slice(1).toLowerCase();
  return `${first}${name === undefined ? '' : `, ${name}`}! How can I help you today?`;
}

function introduce({ text, turns }: Question): string | undefined {
  if (!/\b(?:who|what) are you\b|\bwhat(?:'s|’s| is) your name\b/i.test(text)) return undefined;
  const system = turns.find((turn) => turn.role === 'system')?.text ?? '';
  const [, role] = /\byou are ([^.\n]{1,100})/i.exec(system) ?? [];
  return `I am ${role ?? 'the sandbox: a small text generator inside this gateway that asks no model'}.`;
}

function rememberName({ text, turns }: Question): string | undefined {
  if (!/\bwhat(?:'s|’s| is) my name\b/i.test(text)) return undefined;
  const name = nameIn(turns);
  return name === undefined ? 'You have not told me your name.' : `Your name is ${name}.`;
}

function nameIn(turns: readonly Turn[]): string | undefined {
  const names = turns
    .slice(-REMEMBERED_TURNS_MAX)
    .filter((turn) => turn.role === 'user')
    .map((turn) => turn.text.slice(0, ASKED_CHARS_MAX));
  return names
    .map((text) => /\bmy name is (\p{L}[\p{L}'-]{0,40})/iu.exec(text)?.[1])
    .findLast((name) => name !== undefined);
}

const KINDS: Readonly<Record<string, readonly string[]>> = {
  colour: ['Red', 'Blue', 'Green', 'Yellow', 'Orange', 'Purple', 'Brown', 'White', 'Black', 'Grey'],
  fruit: ['Apple', 'Pear', 'Cherry', 'Plum', 'Mango', 'Banana', 'Grape', 'Fig', 'Lemon', 'Kiwi'],
  animal: ['Otter', 'Heron', 'Fox', 'Badger', 'Owl', 'Lynx', 'Hedgehog', 'Seal', 'Bear', 'Hare'],
  planet: ['Mercury', 'Venus', 'Earth', 'Mars', 'Jupiter', 'Saturn', 'Uranus', 'Neptune'],
  city: ['Lisbon', 'Kyoto', 'Nairobi', 'Oslo', 'Quito', 'Prague', 'Hanoi', 'Toronto', 'Perth', 'Cairo'],
};
const ADJECTIVES = ['quiet', 'bright', 'early', 'patient', 'open', 'northern', 'simple', 'second', 'warm', 'careful'];

const LIST =
  /^(?:list|enumerate|name)\b|\b(?:a|the) list of\b|^(?:give|suggest|show)\b.*\b(?:\d+|two|three|four|five|six|seven|eight|nine|ten)\b/i;
const LIST_ITEMS_MAX = 100;

/** Real members of a kind that it knows; invented ones of every other. */
function list({ text }: Question): Answer | undefined {
  if (!LIST.test(text) || LENGTH.test(text)) return undefined;
  const rest = text.replace(/^(?:list|enumerate|name|give me|suggest|show me)\b|\b(?:a|the) list of\b/gi, ' ');
  const [, amount] = /\b(\d{1,6}|two|three|four|five|six|seven|eight|nine|ten)\b/i.exec(rest) ?? [];
  const count = Math.min(amount === undefined ? 5 : numberOf(amount), LIST_ITEMS_MAX);
  const subject = rest
    .replace(amount ?? '', '')
    .replace(/[.?!]+$/, '')
    .trim()
    .split(/\s+/)
    .slice(0, 6)
    .join(' ');
  const kind = subject.toLowerCase().replace('colors', 'colours').replace('cities', 'citys').replace(/s$/, '');
  const known = KINDS[kind] ?? [];
  const item = (at: number) => {
    const invented = `The ${ADJECTIVES[at % ADJECTIVES.length]} one${subject === '' ? '' : ` of the ${subject}`}`;
    return known[at % known.length] ?? invented;
  };
  return (random) => {
    const start = Math.floor(random() * ADJECTIVES.length);
    return Array.from({ length: count }, (_, at) => `${at + 1}. ${item(start + at)}`).join('\n');
  };
}

const NUMBER_WORDS = ['zero', 'one', 'two', 'three', 'four', 'five', 'six', 'seven', 'eight', 'nine', 'ten'];

function numberOf(written: string): number {
  const word = written.toLowerCase();
  return word === 'twice' ? 2 : NUMBER_WORDS.includes(word) ? NUMBER_WORDS.indexOf(word) : Number(word);
}

function resultInWords({ tool, text }: Turn): string {
  const source = tool === '' ? 'The tool' : tool;
  if (text.length > ANSWER_CHARS_MAX) return `${source} says: ${text.slice(0, ANSWER_CHARS_MAX)}`;
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null) return `${source} says: ${String(value)}.`;
    const facts = Object.entries(value).map(([name, fact]) => `${name} is ${factInWords(fact)}`);
    return `${source} says: ${facts.join(', ')}.`;
  } catch {
    return `${source} says: ${text}`;
  }
}

function factInWords(fact: unknown): string {
  return typeof fact === 'string' ? fact : JSON.stringify(fact);
}

/** The one instruction about tone that it understands. */
function wantsCapitals(turns: readonly Turn[]): boolean {
  const system = turns.find((turn) => turn.role === 'system')?.text.slice(0, ASKED_CHARS_MAX) ?? '';
  return /\b(?:answer|reply|respond|write|speak)\b[^.]*\b(?:upper[- ]?case|capital letters|all caps)\b/i.test(system);
}
