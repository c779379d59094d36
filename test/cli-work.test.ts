import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer, text } from 'node:stream/consumers';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { sniff } from '../src/media/index.ts';
import { CommandLine, finish } from './support/command-line.ts';
import { ADMIN_TOKEN } from './support/gateway.ts';

const BIN = fileURLToPath(new URL('../bin/tollgate.mjs', import.meta.url));
const SLOW = 'extra:={"sandbox":{"delay_ms":1500}}';

test('commands that work with a gateway', async (t) => {
  const shell = await CommandLine.start(t);
  const typeOf = (name: string) => sniff(readFileSync(join(shell.folder, name)))?.mimeType;

  await t.test('one line makes a picture, through the installed command', async () => {
    const args = ['run', 'sandbox/image', 'prompt=a toll gate', '-o', 'gate.png'];
    const { code, out, err } = await finish(shell.spawn(args, BIN));
    assert.equal(code, 0, err);
    assert.match(out, /^gate\.png {2}10 credits {2}job_\w+\n$/);
    assert.match(err, /^job_\w+ is made\.\n$/);
    assert.equal(typeOf('gate.png'), 'image/png');
  });

  await t.test('models lists what the key can use, one of them, and both as the gateway tells them', async () => {
    const out = await shell.succeed(['models']);
    assert.match(out, /^MODEL +FOR +CREDITS\n/);
    assert.match(out, /^sandbox\/image +images,image_edits +per_image: base 10$/m);
    assert.match(await shell.succeed(['models', 'sandbox/image']), /^for +images, image_edits$/m);
    const list = await shell.program.get('/v1/models', shell.environment.TOLLGATE_KEY);
    assert.deepEqual(await shell.json(['models']), list.json);
    assert.equal((await shell.json(['models', 'sandbox/chat'])).id, 'sandbox/chat');
  });

  await t.test('each result of a job has a file of its own, and --json names them', async () => {
    const job = await shell.json(['run', 'sandbox/image', 'prompt=two', 'n=2', '-o', 'two.png']);
    assert.deepEqual([job.status, job.files, job.usage.credits], ['succeeded', ['two.png', 'two-2.png'], 20]);
    assert.deepEqual([typeOf('two.png'), typeOf('two-2.png')], ['image/png', 'image/png']);
  });

  await t.test('-o - is standard output, with the result and nothing else', async () => {
    const child = shell.spawn(['run', 'sandbox/image', 'prompt=piped', '-o', '-']);
    assert.ok(child.stdout);
    const [bytes] = await Promise.all([buffer(child.stdout), once(child, 'close')]);
    assert.equal(child.exitCode, 0);
    assert.equal(sniff(bytes)?.mimeType, 'image/png');
  });

  await t.test('an edit takes a file, and goes to the endpoint that takes pictures', async () => {
    await shell.succeed(['run', 'sandbox/image', 'prompt=at night', 'image=@gate.png', '-o', 'night.png']);
    assert.equal(typeOf('night.png'), 'image/png');
  });

  await t.test('a job that is not waited for is found, waited for and fetched later', async () => {
    const id = (await shell.succeed(['run', 'sandbox/image', 'prompt=later', '--detach'])).trim();
    assert.match(await shell.succeed(['wait', id]), /^status +succeeded$/m);
    assert.equal(await shell.succeed(['download', id]), `${id}.png\n`);
    assert.equal(typeOf(`${id}.png`), 'image/png');
    assert.match(await shell.succeed(['wait', id, '-o', 'again.png']), /^again\.png /);
    assert.match(await shell.succeed(['jobs', '--limit', '1']), new RegExp(`^${id} +succeeded +sandbox/image`, 'm'));
    assert.equal((await shell.json(['jobs', id])).id, id);
    assert.deepEqual(await shell.json(['download', id, '-o', 'x.png']), { files: ['x.png'] });
  });

  await t.test('the same key finds the same job', async () => {
    const args = ['run', 'sandbox/image', 'prompt=once', '--detach', '--key', 'my-picture'];
    assert.equal(await shell.succeed(args), await shell.succeed(args));
  });

  await t.test('Ctrl-C ends the waiting, leaves the job running, and says how to find it', async () => {
    const child = shell.spawn(['run', 'sandbox/image', 'prompt=slow', SLOW, '-o', 'slow.png']);
    assert.ok(child.stderr && child.stdout);
    let told = '';
    child.stderr.on('data', (piece: Buffer) => {
      if (!told.includes('is made')) child.kill('SIGINT');
      told += String(piece);
    });
    const [out] = await Promise.all([text(child.stdout), once(child, 'close')]);
    const [id = ''] = /job_\w+/.exec(told) ?? [];
    assert.deepEqual([child.exitCode, out], [130, '']);
    assert.match(told, new RegExp(`^${id} goes on\\. "tollgate wait ${id}" waits for it again`, 'm'));
    assert.match(await shell.succeed(['wait', id, '-o', 'slow.png']), /^slow\.png /);
  });

  await t.test('--timeout ends the waiting with a code of its own, and not the job', async () => {
    const id = (await shell.succeed(['run', 'sandbox/image', 'prompt=slow', SLOW, '--detach'])).trim();
    const { code, err } = await shell.run(['wait', id, '--timeout', '0']);
    assert.equal(code, 8);
    assert.match(err, /goes on/);
    await shell.succeed(['wait', id]);
  });

  await t.test('chat prints the answer, of words, of standard input, and whole as JSON', async () => {
    assert.match(await shell.succeed(['chat', 'What', 'is', '12 * 7?']), /84/);
    const piped = await finish(shell.spawn(['chat', '--model', 'sandbox/chat']), 'What is 3 * 4?\n');
    assert.deepEqual([piped.code, piped.err], [0, '']);
    assert.match(piped.out, /12.*\n$/s);
    const whole = await shell.json(['chat', 'What is 5 * 5?', '--system', 'Be brief.']);
    assert.match(whole.choices[0].message.content, /25/);
    assert.match(await shell.succeed(['run', 'sandbox/chat', 'prompt=What is 2 * 4?']), /"content":"[^"]*8/);
  });

  await t.test('speak writes a file that transcribe understands, as text and as subtitles', async () => {
    const spoken = await shell.json(['speak', 'Good morning.', '-o', 'morning.wav', '--format', 'wav']);
    assert.equal(spoken.file, 'morning.wav');
    assert.equal(typeOf('morning.wav'), 'audio/wav');
    assert.match(await shell.succeed(['transcribe', 'morning.wav']), /good morning/i);
    assert.match(await shell.succeed(['transcribe', 'morning.wav', '--format', 'srt']), /^1\n00:00:00,\d+ --> /);
    assert.match((await shell.json(['transcribe', 'morning.wav'])).text, /good morning/i);
    assert.match(
      await shell.succeed(['run', 'sandbox/speech', 'prompt=Good evening.', '-o', 'evening.mp3']),
      /^evening/,
    );
  });

  await t.test('embeddings are printed as JSON', async () => {
    const answer = JSON.parse(await shell.succeed(['run', 'sandbox/embedding', 'input=a gate', 'dimensions=64']));
    assert.equal(answer.data[0].embedding.length, 64);
  });

  await t.test('credits, usage and the key are told in words, as JSON and as CSV', async () => {
    assert.match(await shell.succeed(['credits']), /^available +\d/);
    assert.equal((await shell.json(['credits'])).object, 'credit_balance');
    assert.match(await shell.succeed(['usage', '--by', 'model']), /^sandbox\/image +\d+ +\d+/m);
    assert.match(await shell.succeed(['usage', '--csv']), /^day,requests,credits\r?\n\d{4}-/);
    assert.equal((await shell.json(['usage'])).group_by, 'day');
    assert.match(await shell.succeed(['keys', 'show']), /^name +shell$/m);
  });

  await t.test('output that is not read any more ends the command quietly', async () => {
    const child = shell.spawn(['models']);
    child.stdout?.destroy();
    assert.ok(child.stderr);
    const [err] = await Promise.all([text(child.stderr), once(child, 'close')]);
    assert.deepEqual([child.exitCode, err], [141, '']);
  });

  await t.test('each way to fail has an exit code of its own', async () => {
    const admin = (path: string, body: object) =>
      shell.program.call('POST', `/api/admin${path}`, { key: ADMIN_TOKEN, body });
    const poor = (await admin('/accounts', { name: 'Poor' })).json.id;
    const poorKey = (await admin(`/accounts/${poor}/keys`, { name: 'poor' })).json.key;
    const slowKey = (await admin(`/accounts/${shell.accountId}/keys`, { name: 'slow', rpm: 1 })).json.key;
    await shell.run(['credits'], { TOLLGATE_KEY: slowKey });
    const fail = (name: string) => `extra:={"sandbox":{"fail":"${name}"}}`;
    const cases: readonly (readonly [args: readonly string[], code: number, told: RegExp, more?: object])[] = [
      [['run', 'sandbox/image', 'a prompt'], 2, /no field such as/],
      [['run', 'sandbox/image', 'n:=two'], 2, /takes JSON/],
      [['run', 'sandbox/image', 'prompt=x', '--endpoint', 'chat'], 2, /It has: images, image_edits/],
      [['models', '--url', 'nowhere'], 2, /is no address/],
      [['credits'], 3, /There is no key for/, { TOLLGATE_KEY: '' }],
      [['credits'], 3, /does not exist.*\(invalid_api_key, request /, { TOLLGATE_KEY: 'sk-tg1-wrong' }],
      [['account', 'list'], 3, /There is no admin token/, { TOLLGATE_DATA: 'nowhere' }],
      [['account', 'list'], 3, /does not take this admin token/, { TOLLGATE_ADMIN_TOKEN: 'wrong' }],
      [['run', 'sandbox/image', 'prompt=x'], 4, /insufficient_credits/, { TOLLGATE_KEY: poorKey }],
      [['run', 'sandbox/imgae', 'prompt=x'], 5, /Did you mean "sandbox\/image"/],
      [['wait', 'job_none'], 5, /job_not_found/],
      [['run', 'sandbox/image'], 6, /missing_prompt/],
      [['run', 'sandbox/image', 'prompt=x', fail('policy')], 6, /content rules/],
      [['run', 'sandbox/image', 'prompt=x', fail('garbled')], 7, /./],
      [['run', 'sandbox/chat', 'prompt=x', fail('down')], 7, /upstream_failed/],
      [['models'], 9, /cannot be reached.*--url or TOLLGATE_URL/, { TOLLGATE_URL: 'http://127.0.0.1:1' }],
      [['credits'], 10, /rate_limited/, { TOLLGATE_KEY: slowKey }],
      [['transcribe', 'none.wav'], 1, /none\.wav cannot be read/],
    ];
    for (const [args, code, told, more] of cases) {
      const ended = await shell.run(args, { ...more });
      assert.equal(ended.code, code, `${args.join(' ')}: ${ended.out}${ended.err}`);
      assert.match(ended.err, told);
    }
  });

  await t.test('with --json a refusal is one object on standard error', async () => {
    const { code, out, err } = await shell.run(['jobs', 'job_none', '--json']);
    assert.deepEqual([code, out], [5, '']);
    const { error } = JSON.parse(err);
    assert.deepEqual([error.code, error.exit_code], ['job_not_found', 5]);
    assert.match(error.request_id, /./);
  });
});
