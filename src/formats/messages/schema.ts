import { z } from 'zod';
import { CHAT_MESSAGES_MAX } from '../../limits.ts';
import { fields } from '../../schemas/index.ts';

const TOKENS_MAX = 10_000_000;
const ROLES: ReadonlySet<unknown> = new Set(['user', 'assistant', 'system']);

const { checkedListOf, modelField, notAnObject } = fields;
const flag = z.boolean().nullish();
const number = z.number().nullish();
const object = z.looseObject({}).nullish();

function notATurn(item: unknown): fields.Problem | undefined {
  const problem = notAnObject(item);
  if (problem !== undefined) return problem;
  const { role, content } = item as { role?: unknown; content?: unknown };
  if (!ROLES.has(role)) return [['role'], '"user", "assistant" or "system"'];
  return typeof content === 'string' || Array.isArray(content)
    ? undefined
    : [['content'], 'a text or a list of blocks'];
}

const TURN = {
  type: 'object',
  properties: { role: { enum: ['user', 'assistant', 'system'] }, content: {} },
  required: ['role', 'content'],
};
const blocks = checkedListOf({ type: 'object' }, notAnObject);

/** What a request to count and a request to answer have in common. What is not named here is passed on or dropped. */
const counted = {
  model: modelField,
  messages: checkedListOf(TURN, notATurn, 'missing_messages')
    .min(1, { error: 'missing_messages' })
    .max(CHAT_MESSAGES_MAX, { error: `expected at most ${CHAT_MESSAGES_MAX} messages` }),
  system: z.union([z.string(), blocks], { error: 'expected a text or a list of blocks' }).nullish(),
  tools: blocks.nullish(),
  tool_choice: object,
  thinking: object,
  output_config: object,
};

export const countSchema = z.looseObject(counted);

export const messagesSchema = z.looseObject({
  ...counted,
  max_tokens: z.int({ error: 'expected a whole number; this format has no default' }).min(1).max(TOKENS_MAX),
  stream: flag,
  stop_sequences: checkedListOf({ type: 'string' }, notAText).nullish(),
  temperature: number,
  top_p: number,
  top_k: number,
  metadata: object,
});

function notAText(item: unknown): fields.Problem | undefined {
  return typeof item === 'string' ? undefined : [[], 'a string'];
}
