/** What a process of the program needs beside its settings, and nothing else of this process's environment. */
export const BARE_ENVIRONMENT = {
  PATH: process.env.PATH,
  // Each process is compiled once in a run, not once per start.
  NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
};
