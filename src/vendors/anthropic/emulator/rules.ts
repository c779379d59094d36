import { z } from 'zod';

export type ApiVersion = '2023-06-01' | '2026-10-21';

/** The first fault of a request body in the vendor's words, or undefined. `betas` are those that the request turns on. */
export function faultInBody(body: unknown, version: ApiVersion, betas: readonly string[] = []): string | undefined {
  const parsed = (version === '2023-06-01' ? bodyOf2023 : bodyOf2026).safeParse(body);
  if (!parsed.success) return issueText(parsed.error.issues[0]);
  return (
    betaFault(parsed.data, betas) ??
    samplingFault(parsed.data) ??
    toolFault(parsed.data) ??
    thinkingFault(parsed.data) ??
    turnFault(parsed.data, version)
  );
}

/** The same of a request that only counts: it has no limit and nothing that shapes an answer. */
export function faultInCount(body: unknown): string | undefined {
  const parsed = countBody.safeParse(body);
  return parsed.success ? toolFault(parsed.data) : issueText(parsed.error.issues[0]);
}

/** Fields that only a beta knows. */
const BETA_FIELDS = {
  context_management: 'context-management-',
  mcp_servers: 'mcp-client-',
  container: 'skills-',
} as const;

function betaFault(body: Body, betas: readonly string[]): string | undefined {
  for (const [field, beta] of Object.entries(BETA_FIELDS)) {
    const isGiven = body[field as keyof typeof BETA_FIELDS] !== undefined;
    if (isGiven && !betas.some((name) => name.startsWith(beta))) return `${field}: Extra inputs are not permitted`;
  }
  return undefined;
}

/** What the emulated vendor signs a thought with; it takes back none that it has not signed. */
export function signatureOf(thinking: string): string {
  return Buffer.from(`signed ${thinking}`).toString('base64');
}

function issueText(issue: z.core.$ZodIssue | undefined): string {
  if (issue === undefined) return 'Invalid request';
  const path = [...issue.path, ...(issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : [])].join('.');
  return `${path}: ${issue.code === 'unrecognized_keys' ? 'Extra inputs are not permitted' : issue.message}`;
}

const cacheControl = z.strictObject({ type: z.literal('ephemeral'), ttl: z.enum(['5m', '1h']).optional() }).nullish();
const words = z.string().refine((text) => text.trim() !== '', 'text content blocks must contain non-whitespace text');
const toolId = z.string().regex(/^[a-zA-Z0-9_-]+$/);
const toolName = z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/);
const base64 = z.string().regex(/^[A-Za-z0-9+/]+={0,2}$/);
const urlSource = z.strictObject({ type: z.literal('url'), url: z.url({ protocol: /^https?$/ }) });
const fileSource = z.strictObject({ type: z.literal('file'), file_id: z.string() });

const text = z.strictObject({
  type: z.literal('text'),
  text: words,
  cache_control: cacheControl,
  citations: z.array(z.unknown()).nullish(),
});

const image = z.strictObject({
  type: z.literal('image'),
  cache_control: cacheControl,
  source: z.discriminatedUnion('type', [
    z.strictObject({
      type: z.literal('base64'),
      media_type: z.enum(['image/jpeg', 'image/png', 'image/gif', 'image/webp']),
      data: base64,
    }),
    urlSource,
    fileSource,
  ]),
});

const document = z.strictObject({
  type: z.literal('document'),
  cache_control: cacheControl,
  title: z.string().nullish(),
  context: z.string().nullish(),
  citations: z.strictObject({ enabled: z.boolean().optional() }).nullish(),
  source: z.discriminatedUnion('type', [
    z.strictObject({ type: z.literal('base64'), media_type: z.literal('application/pdf'), data: base64 }),
    z.strictObject({ type: z.literal('text'), media_type: z.literal('text/plain'), data: z.string() }),
    urlSource,
    fileSource,
  ]),
});

const toolUse = z.strictObject({
  type: z.literal('tool_use'),
  id: toolId,
  name: toolName,
  input: z.record(z.string(), z.unknown()),
  caller: z.looseObject({ type: z.string() }).optional(),
  cache_control: cacheControl,
});

const toolResult = z.strictObject({
  type: z.literal('tool_result'),
  tool_use_id: toolId,
  content: z.union([z.string(), z.array(z.discriminatedUnion('type', [text, image, document]))]).optional(),
  is_error: z.boolean().optional(),
  cache_control: cacheControl,
});

const thinking = z
  .strictObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() })
  .refine((block) => block.signature === signatureOf(block.thinking), 'Invalid `signature` in `thinking` block');
const redacted = z.strictObject({ type: z.literal('redacted_thinking'), data: z.string() });
const filled = z.string().min(1, 'all messages must have non-empty content');

const message = z.discriminatedUnion('role', [
  z.strictObject({
    role: z.literal('user'),
    content: z.union([filled, z.array(z.discriminatedUnion('type', [text, image, document, toolResult])).min(1)]),
  }),
  z.strictObject({
    role: z.literal('assistant'),
    content: z.union([
      filled,
      z.array(z.discriminatedUnion('type', [text, document, toolUse, thinking, redacted])).min(1),
    ]),
  }),
  z.strictObject({ role: z.literal('system'), content: z.union([filled, z.array(text).min(1)]) }),
]);

const customTool = z.strictObject({
  type: z.literal('custom').nullish(),
  name: toolName,
  description: z.string().optional(),
  input_schema: z.looseObject({ type: z.literal('object') }),
  strict: z.boolean().optional(),
  cache_control: cacheControl,
});
/** Run by the caller, or by the vendor itself. */
const vendorTool = z.strictObject({
  type: z.string().regex(/^(bash|text_editor|web_search|web_fetch|code_execution)_\d{8}$/),
  name: toolName,
  max_uses: z.int().min(1).nullish(),
  cache_control: cacheControl,
});

const isSerial = z.boolean().optional();
const fields = {
  model: z.string().min(1),
  max_tokens: z.int().min(0),
  messages: z.array(message).min(1, 'at least one message is required').max(100_000),
  system: z.union([z.string(), z.array(text)]).optional(),
  stop_sequences: z.array(words).optional(),
  stream: z.boolean().optional(),
  tools: z.array(z.union([customTool, vendorTool])).optional(),
  tool_choice: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.enum(['auto', 'any']), disable_parallel_tool_use: isSerial }),
      z.strictObject({ type: z.literal('tool'), name: toolName, disable_parallel_tool_use: isSerial }),
      z.strictObject({ type: z.literal('none') }),
    ])
    .optional(),
  thinking: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('adaptive'), display: z.enum(['summarized', 'omitted']).nullish() }),
      z.strictObject({ type: z.literal('enabled'), budget_tokens: z.int().min(1024) }),
      z.strictObject({ type: z.enum(['disabled', 'between_tools']) }),
    ])
    .optional(),
  output_config: z
    .strictObject({
      effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
      format: z.strictObject({ type: z.literal('json_schema'), schema: z.looseObject({}) }).nullish(),
    })
    .optional(),
  metadata: z.strictObject({ user_id: z.string().max(512).nullish() }).optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  speed: z.enum(['standard', 'fast']).nullish(),
  cache_control: cacheControl,
  inference_geo: z.string().nullish(),
  context_management: z.strictObject({ edits: z.array(z.looseObject({ type: z.string() })) }).optional(),
  mcp_servers: z.array(z.looseObject({ type: z.literal('url'), url: z.url(), name: z.string() })).optional(),
  container: z.union([z.string(), z.looseObject({})]).optional(),
};

const bodyOf2026 = z.strictObject(fields);
const { model, messages, system, tools, tool_choice, thinking: thinks, output_config, cache_control } = fields;
const countBody = z.strictObject({
  ...{ model, messages, system, tools, tool_choice, output_config, cache_control },
  thinking: thinks,
});
const sampling = { temperature: z.number().optional(), top_p: z.number().optional(), top_k: z.int().optional() };
const bodyOf2023 = z.strictObject({ ...fields, ...sampling });
type Body = z.infer<typeof bodyOf2023>;

/** The emulated model is a new one: of the sampling fields it takes `temperature: 1` and nothing else. */
function samplingFault({ temperature, top_p, top_k }: Body): string | undefined {
  if (temperature !== undefined && temperature !== 1) return '`temperature` may only be set to 1 for this model.';
  return top_p !== undefined || top_k !== undefined ? '`top_p` and `top_k` are deprecated for this model.' : undefined;
}

function toolFault({ tools = [], tool_choice: choice }: Pick<Body, 'tools' | 'tool_choice'>): string | undefined {
  const names = new Set(tools.map(({ name }) => name));
  if (names.size < tools.length) return 'tools: Tool names must be unique.';
  if (choice !== undefined && tools.length === 0) {
    return 'tool_choice: may only be specified while providing tools.';
  }
  return choice?.type === 'tool' && !names.has(choice.name) ? `Tool '${choice.name}' not found` : undefined;
}

function thinkingFault({ thinking: asked, max_tokens: limit }: Body): string | undefined {
  const isOver = asked?.type === 'enabled' && asked.budget_tokens >= limit;
  return isOver ? '`max_tokens` must be greater than `thinking.budget_tokens`.' : undefined;
}

/** Every call is answered in the very next message, in front of all else; the emulated model takes no prefill. */
function turnFault({ messages }: Body, version: ApiVersion): string | undefined {
  let open: string[] = [];
  for (const [index, { role, content }] of messages.entries()) {
    const blocks = typeof content === 'string' ? [] : content;
    const where = `messages.${index}`;
    if (version === '2026-10-21') {
      if (role === 'assistant' && blocks.some(({ type }) => type === 'document')) {
        return `${where}.content: document blocks are not permitted in assistant messages`;
      }
      if (role === 'user' && blocks.some((block) => block.type === 'text' && block.citations != null)) {
        return `${where}.content: citations are not permitted on user text blocks`;
      }
    }
    const results = blocks.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id] : []));
    const stray = results.find((id) => !open.includes(id));
    if (stray !== undefined)
      return `${where}.content: unexpected \`tool_use_id\` found in tool_result blocks: ${stray}`;
    const missing = open.find((id) => !results.includes(id));
    if (missing !== undefined)
      return `${where}: \`tool_use\` ids were found without \`tool_result\` blocks: ${missing}`;
    if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result')) {
      return `${where}.content: tool_result blocks must come first`;
    }
    if (role === 'system' && messages[index - 1]?.role !== 'user') return `${where}: system must follow a user message`;
    open = blocks.flatMap((block) => (block.type === 'tool_use' ? [block.id] : []));
  }
  const last = messages.at(-1);
  return last?.role === 'assistant' ? 'This model does not support assistant message prefill.' : undefined;
}
