/** A program or library of others that is run against the gateway, with the exact versions that are installed for it. */
export interface ClientProgram {
  /** Of its test, test/clients/NAME.test.ts, and of the folder that it is installed in. */
  readonly name: string;
  /** As the table in docs/clients.md has it. */
  readonly title: string;
  readonly from: 'npm' | 'pip';
  /** By their names in the registry. The version of the first is the one that the table shows. */
  readonly packages: Readonly<Record<string, string>>;
  /** Which of them, for npm, must run a script of their own when they are installed. */
  readonly installScripts?: readonly string[];
}

/** In the order of the table. */
export const CLIENT_PROGRAMS: readonly ClientProgram[] = [
  {
    name: 'codex',
    title: 'Codex',
    from: 'npm',
    packages: { '@openai/codex': '0.169.0' },
  },
  {
    name: 'claude-code',
    title: 'Claude Code',
    from: 'npm',
    packages: { '@anthropic-ai/claude-code': '2.1.326' },
    installScripts: ['@anthropic-ai/claude-code'],
  },
  {
    name: 'opencode',
    title: 'opencode',
    from: 'npm',
    packages: { 'opencode-ai': '1.18.33' },
    installScripts: ['opencode-ai'],
  },
  { name: 'openai-js', title: 'openai (JavaScript)', from: 'npm', packages: { openai: '7.55.0' } },
  { name: 'anthropic-js', title: '@anthropic-ai/sdk', from: 'npm', packages: { '@anthropic-ai/sdk': '1.9.0' } },
  { name: 'genai-js', title: '@google/genai', from: 'npm', packages: { '@google/genai': '3.1.0' } },
  {
    name: 'ai-sdk',
    title: 'ai (AI SDK)',
    from: 'npm',
    packages: {
      ai: '7.0.170',
      '@ai-sdk/anthropic': '4.0.102',
      '@ai-sdk/google': '4.0.118',
      '@ai-sdk/openai': '4.0.115',
      '@ai-sdk/openai-compatible': '3.0.90',
    },
  },
  {
    name: 'openai-agents-js',
    title: '@openai/agents',
    from: 'npm',
    packages: { '@openai/agents': '0.20.0', zod: '4.6.7' },
  },
  {
    name: 'langchain-js',
    title: 'langchain (JavaScript)',
    from: 'npm',
    packages: {
      langchain: '1.5.14',
      '@langchain/core': '1.2.13',
      '@langchain/langgraph': '1.4.13',
      '@langchain/openai': '1.6.0',
      zod: '4.6.7',
    },
  },
  {
    name: 'llamaindex-js',
    title: 'llamaindex (JavaScript)',
    from: 'npm',
    packages: { llamaindex: '0.12.1', '@llamaindex/openai': '0.4.23' },
  },
  {
    name: 'mcp-client',
    title: '@modelcontextprotocol/client',
    from: 'npm',
    packages: { '@modelcontextprotocol/client': '2.4.0', '@modelcontextprotocol/sdk': '1.32.2' },
  },
  // Libraries in Python. The script of none may have the name of a module, which it would stand before.
  { name: 'openai-py', title: 'openai (Python)', from: 'pip', packages: { openai: '3.51.0' } },
  { name: 'anthropic-py', title: 'anthropic (Python)', from: 'pip', packages: { anthropic: '2.9.0' } },
  { name: 'google-genai-py', title: 'google-genai (Python)', from: 'pip', packages: { 'google-genai': '3.3.0' } },
  {
    name: 'openai-agents-py',
    title: 'openai-agents (Python)',
    from: 'pip',
    packages: { 'openai-agents': '0.24.0', openai: '3.51.0' },
  },
  {
    name: 'langchain-py',
    title: 'langchain-openai (Python)',
    from: 'pip',
    packages: { 'langchain-openai': '1.7.3', 'langchain-core': '1.7.2', openai: '3.51.0' },
  },
  {
    name: 'llamaindex-py',
    title: 'llama-index-llms-openai-like (Python)',
    from: 'pip',
    packages: {
      'llama-index-llms-openai-like': '0.8.1',
      'llama-index-embeddings-openai-like': '0.4.0',
      openai: '2.54.0',
    },
  },
  {
    name: 'pydantic-ai-py',
    title: 'pydantic-ai-slim (Python)',
    from: 'pip',
    packages: { 'pydantic-ai-slim[openai]': '2.66.0', openai: '3.51.0' },
  },
  {
    name: 'instructor-py',
    title: 'instructor (Python)',
    from: 'pip',
    packages: { instructor: '1.17.0', openai: '3.3.0' },
  },
  {
    name: 'litellm-py',
    title: 'litellm (Python)',
    from: 'pip',
    // Its calls with tools import what only this extra installs.
    packages: { 'litellm[mcp]': '1.106.2', openai: '2.54.0' },
  },
  { name: 'llm', title: 'llm', from: 'pip', packages: { llm: '0.36', openai: '3.51.0' } },
];

export function clientProgram(name: string): ClientProgram {
  const program = CLIENT_PROGRAMS.find((each) => each.name === name);
  if (program === undefined) throw new Error(`There is no client program "${name}" in test/clients/versions.ts.`);
  return program;
}

/** The version of its first package. */
export function versionOf({ packages }: ClientProgram): string {
  return Object.values(packages)[0] ?? '';
}
