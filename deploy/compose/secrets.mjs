// Makes every secret of compose.yaml once, each in the folder of those that may read it: `secrets.mjs FOLDER`. What is there
// stays. Two servers that must agree on a password find it in two folders.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

const [folder = '/secrets'] = process.argv.slice(2);
const { POSTGRES_ADDRESS = 'postgres:5432', VALKEY_ADDRESS = 'valkey:6379' } = process.env;

const database = keep('postgres/password');
const limiter = keep('valkey/password');
const accessKey = keep('storage/access-key');
const secretKey = keep('storage/secret-key');
keep('gateway/secret');
keep('gateway/admin-token');
write('gateway/database-url', `postgres://tollgate:${database}@${POSTGRES_ADDRESS}/tollgate`);
write('gateway/redis-url', `redis://:${limiter}@${VALKEY_ADDRESS}`);
write('gateway/aws-credentials', `[default]\naws_access_key_id = ${accessKey}\naws_secret_access_key = ${secretKey}`);
write('storage/s3.json', JSON.stringify(storageRules()));

function storageRules() {
  const actions = ['Admin', 'Read', 'Write', 'List', 'Tagging'];
  return { identities: [{ name: 'tollgate', credentials: [{ accessKey, secretKey }], actions }] };
}

/** What the file holds, or a new secret of 256 bits. */
function keep(name) {
  const path = join(folder, name);
  if (!existsSync(path)) write(name, randomBytes(32).toString('hex'));
  return readFileSync(path, 'utf8').trim();
}

/** The folder is what keeps others out: the servers run as users that this one does not know. */
function write(name, text) {
  const path = join(folder, name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${text}\n`, { mode: 0o444 });
}
