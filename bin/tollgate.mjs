#!/usr/bin/env node
// Starts Tollgate with the Node it was installed with, whatever Node the shell finds first.
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const ensured = spawnSync(process.execPath, [join(root, 'scripts', 'ensure.mjs'), '--to-run'], { stdio: 'inherit' });
if (ensured.status !== 0) process.exit(ensured.status ?? 1);

// V8's flags have one place, the command of `npm start`; docs/operating.md, "Memory", says what they do.
const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const flags = scripts.start.split(' ').filter((word) => word.startsWith('--'));
const node = join(root, 'node_modules', '.bin', process.platform === 'win32' ? 'node.cmd' : 'node');
const child = spawn(node, [...flags, join(root, 'src', 'main.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: {
    // Compiled modules, kept from start to start: half of its processor time and a seventh of the resting memory. Node
    // goes without where it cannot write.
    NODE_COMPILE_CACHE: join(root, 'node_modules', '.cache', 'compiled'),
    // glibc keeps a heap per thread, each with holes of its own where large bodies and pictures were: a third of the memory.
    MALLOC_ARENA_MAX: '2',
    ...process.env,
    // Tells the gateway to end with this process, also when that is killed.
    LAUNCHED_BY: String(process.pid),
  },
});
for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`Could not start Node from ${node}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(code ?? 128 + (constants.signals[signal] ?? 0)));
