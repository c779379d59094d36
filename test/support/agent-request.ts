import type { Fields } from './documents.ts';

const WORDS =
  'Use this when the user asks for it and never otherwise; read the file first, then change what is needed. ';

/**
 * What a coding agent sends with every turn, as it was seen on the wire: three blocks of instructions of which the first
 * changes with every turn, instructions in the middle, 28 tools, thoughts and results of earlier turns, and fields of
 * betas; 85 KB before anything is said.
 */
export function agentRequest(model: string): Fields {
  const cached = { cache_control: { type: 'ephemeral' } };
  return {
    model,
    max_tokens: 900,
    stream: true,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2.1.197; cc_entrypoint=cli; cch=00000;' },
      { type: 'text', text: 'You are a coding agent.', ...cached },
      { type: 'text', text: WORDS.repeat(200), ...cached },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: `<system-reminder>\n${WORDS.repeat(10)}\n</system-reminder>` },
          { type: 'text', text: 'What is in this folder?', ...cached },
        ],
      },
      { role: 'system', content: [{ type: 'text', text: 'The folder is called project.' }] },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I should look.', signature: '' },
          { type: 'text', text: 'Let me look.' },
          { type: 'tool_use', id: 'call_abc', name: 'tool_0', input: { path: '.', depth: 2 } },
          { type: 'tool_use', id: 'call_def', name: 'tool_1', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { tool_use_id: 'call_abc', type: 'tool_result', content: 'README.md\nsrc', is_error: false },
          {
            tool_use_id: 'call_def',
            type: 'tool_result',
            content: [{ type: 'text', text: 'No such tool.' }],
            is_error: true,
            ...cached,
          },
        ],
      },
    ],
    tools: Array.from({ length: 28 }, (_, at) => toolOf(at)),
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: JSON.stringify({ device_id: 'd', account_uuid: '', session_id: 's' }) },
  };
}

function toolOf(at: number): Fields {
  return {
    name: `tool_${at}`,
    description: WORDS.repeat(20),
    input_schema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      properties: { path: { type: 'string', description: WORDS }, depth: { type: 'integer', minimum: 0 } },
      required: ['path'],
      additionalProperties: false,
    },
  };
}
