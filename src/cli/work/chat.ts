import { text as readAll } from 'node:stream/consumers';
import { CommandError, type Invocation, UsageError } from '../command.ts';
import { EXIT, exitCodeFor } from '../exit-codes.ts';
import { connect } from '../gateway/connect.ts';
import type { Connection } from '../gateway/connection.ts';
import { openTerminal } from '../gateway/terminal.ts';
import { eventsOf } from './events.ts';
import { modelFor } from './models.ts';

interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string;
}

interface Chunk {
  readonly choices?: readonly { readonly delta?: { readonly content?: string | null } }[];
  readonly usage?: { readonly credits?: number } | null;
  readonly error?: { readonly message: string; readonly code: string };
}

/** One question, from the command line or standard input; a conversation where both ends are a terminal. */
export async function chatCommand(invocation: Invocation): Promise<number> {
  const { operands, options } = invocation;
  const connection = connect(invocation);
  const model = await modelFor(connection, options, 'chat');
  const system: readonly Message[] = options.system === undefined ? [] : [{ role: 'system', content: options.system }];
  if (operands.length === 0 && process.stdin.isTTY) {
    if (options.json !== undefined) throw new UsageError('tollgate chat --json needs a question.');
    return converse(connection, model, system);
  }
  const question = operands.length > 0 ? operands.join(' ') : (await readAll(process.stdin)).trim();
  if (question === '') throw new UsageError('tollgate chat needs a question, as words or on standard input.');
  const messages = [...system, { role: 'user' as const, content: question }];
  if (options.json === undefined) await streamAnswer(connection, model, messages);
  else console.log(await connection.text('POST', '/v1/chat/completions', { json: { model, messages } }));
  return EXIT.done;
}

async function converse(connection: Connection, model: string, system: readonly Message[]): Promise<number> {
  const terminal = openTerminal(process.stderr, '> ', connection.signal);
  let messages: readonly Message[] = system;
  try {
    process.stderr.write(`${model} at ${connection.address}. An empty line ends the conversation.\n`);
    terminal.prompt();
    for await (const line of terminal) {
      if (line.trim() === '') break;
      messages = [...messages, { role: 'user', content: line }];
      const content = await streamAnswer(connection, model, messages);
      messages = [...messages, { role: 'assistant', content }];
      terminal.prompt();
    }
  } finally {
    terminal.close();
  }
  connection.signal.throwIfAborted();
  return EXIT.done;
}

/** Prints the answer while it comes. Resolves to all of it. */
async function streamAnswer(connection: Connection, model: string, messages: readonly Message[]): Promise<string> {
  const { body } = await connection.open('POST', '/v1/chat/completions', {
    json: { model, messages, stream: true, stream_options: { include_usage: true } },
  });
  let content = '';
  let credits: number | undefined;
  let isWhole = false;
  for await (const data of eventsOf(body)) {
    if (data === '[DONE]') {
      isWhole = true;
      break;
    }
    const { choices, usage, error } = JSON.parse(data) as Chunk;
    if (error !== undefined) throw brokenOff(error.message, error.code);
    const piece = choices?.[0]?.delta?.content ?? '';
    content += piece;
    process.stdout.write(piece);
    credits = usage?.credits ?? credits;
  }
  if (!content.endsWith('\n')) process.stdout.write('\n');
  if (!isWhole) throw brokenOff('The answer broke off.', 'upstream_failed');
  if (process.stderr.isTTY && credits !== undefined) process.stderr.write(`(${credits} credits)\n`);
  return content;
}

/** The status has gone out before the failure: what a frame tells is the upstream's doing. */
function brokenOff(message: string, code: string): CommandError {
  return new CommandError(`\n${message}`, { exitCode: exitCodeFor(502, code), code });
}
