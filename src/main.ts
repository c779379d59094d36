import { runProgram } from './cli/index.ts';
import { tuneMemory } from './memory.ts';

tuneMemory();
// Not left to the event loop: a connection to a database that has stopped answering would keep it alive.
process.exit(await runProgram(process.argv.slice(2), process.env));
