import { runProgram } from './cli/index.ts';
import { collectWhenIdle } from './memory.ts';

collectWhenIdle();
// Not left to the event loop: a connection to a database that has stopped answering would keep it alive.
process.exit(await runProgram(process.argv.slice(2), process.env));
