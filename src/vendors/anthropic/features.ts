import type { JsonObject, JsonValue } from '../../json.ts';
import { unsupported, unsupportedType } from '../../unsupported.ts';
import type { Upstream } from '../kit/http.ts';
import { isList, isObject, itemsAt, objectAt, stringAt } from '../kit/json.ts';

/** Betas that neither cost more than the price of tokens nor reach what belongs to the account. */
const BETAS: ReadonlySet<string> = new Set([
  ...['claude-code', 'interleaved-thinking', 'fine-grained-tool-streaming', 'token-efficient-tools', 'effort'],
  ...[
    'context-management',
    'compact',
    'prompt-caching',
    'prompt-caching-scope',
    'extended-cache-ttl',
    'cache-diagnosis',
  ],
  ...['structured-outputs', 'advanced-tool-use', 'inline-tools', 'computer-use', 'task-budgets', 'token-counting'],
  ...['thinking-display-updates', 'thinking-token-count', 'thinking-binding-controls', 'redact-thinking', 'pdfs'],
  ...['mid-conversation-output-config', 'mid-conversation-system-clear-at', 'mid-conversation-tool-changes'],
  ...['mid-conversation-system', 'model-context-window-exceeded', 'output-128k', 'output-300k'],
]);

/** The caller's betas that this upstream lets callers turn on, in their order; undefined where none are left. */
export function allowedBetas(header: string, { betas }: Pick<Upstream, 'betas'>): string | undefined {
  const allowed = betas === undefined ? BETAS : new Set(betas);
  const names = header.split(',').map((name) => name.trim());
  const kept = names.filter(
    (name) => name !== '' && (allowed.has('*') || allowed.has(name) || allowed.has(undated(name))),
  );
  return kept.length === 0 ? undefined : kept.join(',');
}

function undated(beta: string): string {
  return beta.replace(/-\d{4}-\d{2}-\d{2}$|-\d{8}$/, '');
}

/** Tools that the vendor defines and the caller runs. */
const CLIENT_TOOLS = /^(custom|bash_|text_editor_|computer_|memory_)/;

/**
 * What the vendor runs, fetches or reads by itself costs more than tokens, or belongs to the operator's account: it is
 * refused unless the upstream's setting allows it. Throws ApiError.
 */
export function refuseServerTools(body: JsonObject, { serverTools }: Pick<Upstream, 'serverTools'>): void {
  if (serverTools === true) return;
  if (itemsAt(body, 'mcp_servers').length > 0) throw unsupported('mcp_servers');
  if (body.container != null) throw unsupported('container');
  for (const [index, tool] of itemsAt(body, 'tools').entries()) {
    const type = isObject(tool) ? (stringAt(tool, 'type') ?? 'custom') : 'custom';
    if (!CLIENT_TOOLS.test(type)) throw unsupportedType(`tools[${index}]`, 'tool', type);
  }
  for (const [index, turn] of itemsAt(body, 'messages').entries()) {
    if (isObject(turn)) refuseFiles(turn.content, `messages[${index}].content`);
  }
}

function refuseFiles(content: JsonValue | undefined, where: string): void {
  if (!isList(content)) return;
  for (const [index, block] of content.entries()) {
    if (!isObject(block)) continue;
    const at = `${where}[${index}]`;
    if (objectAt(block, 'source')?.type === 'file') throw unsupported(`${at}.source.file_id`);
    if (block.type === 'container_upload') throw unsupportedType(at, 'block', 'container_upload');
    refuseFiles(block.content, `${at}.content`);
    refuseFiles(objectAt(block, 'source')?.content, `${at}.source.content`);
  }
}
