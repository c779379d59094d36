import { createInterface, type Interface } from 'node:readline/promises';

/** Lines from the terminal. Ctrl-D ends them, Ctrl-C is the signal that it is elsewhere. */
export function openTerminal(output: NodeJS.WritableStream, prompt: string, signal: AbortSignal): Interface {
  const terminal = createInterface({ input: process.stdin, output, prompt, terminal: true, signal });
  // In raw mode Ctrl-C reaches the reader as a key and no signal is sent.
  terminal.on('SIGINT', () => process.kill(process.pid, 'SIGINT'));
  return terminal;
}
