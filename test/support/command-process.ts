// Runs commands of the program, one after the other, in this one process: for test/support/commands.ts.
import { runProgram } from '../../src/cli/index.ts';
import type { Command } from './commands.ts';

let last: Promise<void> = Promise.resolve();

// Each command adds listeners that the end of its process would remove.
process.setMaxListeners(0);
process.on('message', (command: Command) => {
  last = last.then(() => answer(command));
});

async function answer({ number, args, folder, environment }: Command): Promise<void> {
  process.chdir(folder);
  const [out, err] = [captured(process.stdout), captured(process.stderr)];
  const code = await runProgram(args, environment);
  process.send?.({ number, code, out: out(), err: err() });
}

/** Takes what is written from now on; the function it returns gives it out, and lets what follows through again. */
function captured(stream: NodeJS.WriteStream): () => string {
  const write = stream.write.bind(stream);
  let text = '';
  stream.write = (chunk: string | Uint8Array) => {
    text += String(chunk);
    return true;
  };
  return () => {
    stream.write = write;
    return text;
  };
}
