import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, type TestContext, test } from 'node:test';
import { Client } from 'pg';
import { ADMIN_TOKEN, type Answer } from './support/gateway.ts';
import { atEnd, IS_ROOT, isAlive, STRANGER, serverPid, serversBelow, until, workFolder, works } from './support/postgres.ts';
import { adminToken, copyFolder, ownDatabase, Program } from './support/program.ts';
import { RawConnection, requestText } from './support/raw-http.ts';

/** A data folder after its first start and an orderly stop, for tests to copy. */
let used: string;
let firstStart: { told: string; key: string; calls: Answer[] };

before(async (t) => {
  assert.ok(t !== undefined && 'after' in t);
});

after(() => rmSync(used, { recursive: true, force: true }));
