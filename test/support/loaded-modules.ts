import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

// Preloaded into a process of the program by `--import`: writes the address of each module that it loads to a file. Threads
// that have no environment write nothing.
const file = process.env.LOADED_MODULES;
registerHooks({
  load: (url, context, next) => {
    if (file !== undefined && url.startsWith('file:')) appendFileSync(file, `${url}\n`);
    return next(url, context);
  },
});
