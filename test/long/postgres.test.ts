import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import {
  answers,
  asUser,
  atEnd,
  canNobodyReach,
  connect,
  copyOfPostgres,
  end,
  ended,
  IS_ROOT,
  NOBODY,
  query,
  STRANGER,
  serverPid,
  serversBelow,
  spawnGateway,
  start,
  startError,
  startInChild,
  uidOf,
  unfinished,
  until,
  workFolder,
  works,
} from '../support/postgres.ts';

// Most of the time goes into waiting for disks.
describe('the embedded PostgreSQL', { concurrency: 3 }, () => {
  test('keeps its data when it is stopped and started again', async (t) => {
    const folder = workFolder(t);
    const first = await start(t, folder);
    await query(first, 'create table kept as select 42 as answer');
    await first.stop();
    await first.stop();
    await assert.rejects(query(first, 'select 1'));
    const second = await start(t, folder);
    assert.deepEqual(await query(second, 'select answer from kept'), [{ answer: 42 }]);
  });

  test('listens on no network address, and only its own user can reach its socket', async (t) => {
    const server = await start(t, workFolder(t));
    assert.deepEqual(await query(server, 'show listen_addresses'), [{ listen_addresses: '' }]);
    assert.equal(statSync(server.connection.host).mode & 0o777, 0o700);
    assert.deepEqual(await query(server, 'show fsync'), [{ fsync: 'on' }]);
  });

  test('answers again by itself after its postmaster was killed', async (t) => {
    const folder = workFolder(t);
    const server = await start(t, folder);
    await query(server, 'create table kept as select 42 as answer');
    const killed = serverPid(folder);
    process.kill(killed, 'SIGKILL');
    await until(async () => !serversBelow(folder).includes(killed) && (await answers(server)));
    assert.deepEqual(await query(server, 'select answer from kept'), [{ answer: 42 }]);
    assert.notEqual(serverPid(folder), killed);
  });

  test('puts no empty database in the place of one that has gone while it ran', async (t) => {
    const folder = workFolder(t);
    const complaints: string[] = [];
    const server = await start(t, folder, { complaints });
    await query(server, 'create table kept as select 42 as answer');
    renameSync(join(folder, 'postgres'), join(folder, 'elsewhere'));
    process.kill(Number.parseInt(readFileSync(join(folder, 'elsewhere', 'postmaster.pid'), 'utf8'), 10), 'SIGKILL');
    await until(() => complaints.some((line) => line.includes('has gone')));
    renameSync(join(folder, 'elsewhere'), join(folder, 'postgres'));
    await until(() => answers(server));
    assert.deepEqual(await query(server, 'select answer from kept'), [{ answer: 42 }]);
  });

  test('answers again by itself after one of its sessions was killed', async (t) => {
    const server = await start(t, workFolder(t));
    const session = await connect(server);
    const { rows } = await session.query('select pg_backend_pid() as pid');
    process.kill(Number(rows[0]?.pid), 'SIGKILL');
    await until(() => answers(server));
  });

  test('adopts the server that a killed gateway left, brings it back, and stops it', async (t) => {
    const folder = workFolder(t);
    const gateway = await startInChild(t, folder);
    const left = serverPid(folder);
    await end(gateway, 'SIGKILL');

    const progress: string[] = [];
    const server = await start(t, folder, { progress });
    assert.deepEqual(progress, ['Adopting the PostgreSQL server left running']);
    assert.equal(serverPid(folder), left);

    process.kill(left, 'SIGKILL');
    await until(() => answers(server));
    await server.stop();
    assert.deepEqual(serversBelow(folder), []);
  });

  test('refuses a second gateway on the same folder, and the first keeps its server', async (t) => {
    const folder = workFolder(t);
    const first = await start(t, folder);
    const pid = serverPid(folder);
    const second = spawnGateway(t, folder);
    await ended(second);
    await assert.rejects(start(t, folder), startError(/Another Tollgate is running on the data folder/));
    assert.ok(await answers(first));
    assert.equal(serverPid(folder), pid);
  });

  for (const ending of ['process.exit(0)', 'setImmediate(() => { throw new Error("uncaught"); })']) {
    test(`does not outlive a gateway that ends by ${ending}`, async (t) => {
      const folder = workFolder(t);
      const gateway = await startInChild(t, folder, { afterwards: ending });
      await ended(gateway);
      await until(() => !existsSync(join(folder, 'postgres', 'postmaster.pid')));
    });
  }

  test('makes the cluster anew when the gateway was killed while it made one', async (t) => {
    const folder = workFolder(t);
    const gateway = spawnGateway(t, folder);
    await until(() => unfinished(folder).some((name) => existsSync(join(folder, name, 'PG_VERSION'))));
    await end(gateway, 'SIGKILL');
    assert.equal(existsSync(join(folder, 'postgres')), false);

    const server = await start(t, folder);
    assert.ok(await answers(server));
    assert.deepEqual(unfinished(folder), []);
  });

  test('refuses to take a folder for a cluster that is none, and leaves it alone', async (t) => {
    const folder = workFolder(t);
    mkdirSync(join(folder, 'postgres'));
    writeFileSync(join(folder, 'postgres', 'letter.txt'), 'dear');
    await assert.rejects(start(t, folder), startError(/holds no PostgreSQL cluster/));
    assert.equal(readFileSync(join(folder, 'postgres', 'letter.txt'), 'utf8'), 'dear');
  });

  test('starts although the number of its dead server now belongs to a stranger', async (t) => {
    const folder = workFolder(t);
    const first = await start(t, folder);
    const lock = readFileSync(join(folder, 'postgres', 'postmaster.pid'), 'utf8');
    await first.stop();
    const stranger = spawn('sleep', ['60'], IS_ROOT ? { uid: NOBODY, gid: NOBODY } : {});
    atEnd(t, () => stranger.kill('SIGKILL'));
    writeFileSync(join(folder, 'postgres', 'postmaster.pid'), lock.replace(/^\d+/, String(stranger.pid)));
    assert.ok(await answers(await start(t, folder)));
    assert.equal(stranger.exitCode, null);
  });

  test("tells the server's own last lines when it does not start", async (t) => {
    const starting = start(t, workFolder(t), { settings: { shared_buffers: 'plenty' } });
    await assert.rejects(
      starting,
      startError(/invalid value for parameter "shared_buffers": "plenty"[\s\S]*DATABASE_URL/),
    );
  });

  test('runs in a folder whose name has a space', async (t) => {
    const folder = join(workFolder(t), 'my data');
    assert.ok(await answers(await start(t, folder)));
  });

  test('runs two servers side by side', async (t) => {
    const servers = await Promise.all([start(t, workFolder(t)), start(t, workFolder(t))]);
    for (const server of servers) await query(server, 'create table mine as select 1');
    assert.notEqual(servers[0]?.connection.host, servers[1]?.connection.host);
  });

  test('keeps its socket in a private folder when the data folder has too long a path', async (t) => {
    const folder = join(workFolder(t), 'x'.repeat(120));
    const server = await start(t, folder);
    const { host } = server.connection;
    assert.ok(await answers(server));
    assert.ok(!host.startsWith(folder));
    assert.equal(statSync(host).mode & 0o777, 0o700);
    await server.stop();

    mkdirSync(host, { mode: 0o755 });
    atEnd(t, () => rmSync(host, { recursive: true }));
    await assert.rejects(start(t, folder), startError(/is not a private folder/));
  });

  test('keeps its socket elsewhere when the path of the data folder has a comma', async (t) => {
    const folder = join(workFolder(t), 'a, "b"');
    assert.ok(await answers(await start(t, folder)));
  });

  test('runs for an ordinary user', async (t) => {
    const folder = workFolder(t);
    const uid = IS_ROOT ? NOBODY : process.getuid?.();
    const gateway = await startInChild(t, folder, IS_ROOT ? asUser(t, NOBODY, folder) : {});
    assert.equal(uidOf(serverPid(folder)), uid);
    await end(gateway, 'SIGTERM');
    assert.deepEqual(serversBelow(folder), []);
  });

  if (IS_ROOT && works(['setpriv', `--reuid=${STRANGER}`, '--clear-groups', 'unshare', '--user', 'true'])) {
    test('runs for a user whose number has no name', async (t) => {
      const folder = workFolder(t);
      const gateway = await startInChild(t, folder, asUser(t, STRANGER, folder));
      assert.equal(uidOf(serverPid(folder)), STRANGER);
      await end(gateway, 'SIGTERM');
      assert.deepEqual(serversBelow(folder), []);
    });
  }

  if (IS_ROOT) {
    test('refuses a data folder of somebody else', async (t) => {
      const folder = workFolder(t);
      chownSync(folder, STRANGER, STRANGER);
      await assert.rejects(start(t, folder), startError(/belongs to another user \(uid 1234\)[\s\S]*TOLLGATE_DATA/));
      assert.deepEqual(readdirSync(folder), []);
    });

    test('runs below a folder that is closed to everybody else', async (t) => {
      const folder = join(workFolder(t), 'closed', 'data');
      mkdirSync(join(folder, '..'), { mode: 0o700 });
      const server = await start(t, folder);
      assert.ok(await answers(server));
      assert.equal(statSync(folder).mode & 0o777, 0o700);
    });

    test('runs from a checkout below a folder that is closed to everybody else', async (t) => {
      const closed = join(workFolder(t), 'closed');
      mkdirSync(closed, { mode: 0o700 });
      const seen: string[] = [];
      const postgres = copyOfPostgres(join(closed, 'checkout'));
      const afterwards = 'await server.stop()';
      await ended(await startInChild(t, join(closed, 'data'), { postgres, afterwards, seen }));
      assert.equal(seen.at(-2), 'Starting PostgreSQL as uid 0 in a user namespace');
    });

    test("shows the gateway's files to nobody", async (t) => {
      const folder = workFolder(t);
      writeFileSync(join(folder, 'admin-token'), 'secret', { mode: 0o600 });
      await start(t, folder);
      for (const command of [`cat '${folder}/admin-token'`, `ls '${folder}'`, `rm -f '${folder}/admin-token'`]) {
        assert.notEqual(spawnSync('sh', ['-c', command], { uid: NOBODY, gid: NOBODY }).status, 0, command);
      }
    });

    test('keeps its data when root has to run it in another way than before', async (t) => {
      const folder = join(workFolder(t), 'closed');
      mkdirSync(folder, { mode: 0o700 });
      const ways = [
        { without: 'net_raw', expected: 'uid 65534 with dac_read_search' },
        { without: 'dac_read_search', expected: 'uid 65534 with dac_override' },
        { without: 'setuid', expected: 'uid 0 in a user namespace' },
        { without: 'net_raw', expected: 'uid 65534 with dac_read_search' },
      ];
      for (const way of ways) {
        const seen: string[] = [];
        const prefix = ['setpriv', `--bounding-set=-${way.without}`];
        const afterwards = 'await server.stop()';
        await ended(await startInChild(t, join(folder, 'data'), { prefix, afterwards, seen }));
        // From a checkout that is itself closed to others, only one way is open.
        const expected = canNobodyReach('package.json') ? way.expected : 'uid 0 in a user namespace';
        assert.equal(seen.at(-2), `Starting PostgreSQL as ${expected}`);
      }
    });
  }

  if (canMount()) {
    test('says that the disk is full when there is no room for a cluster', async (t) => {
      const folder = smallDisk(t, '8m');
      await assert.rejects(start(t, folder), startError(/No space left on device[\s\S]*is full[\s\S]*TOLLGATE_DATA/));
      assert.deepEqual(unfinished(folder), []);
    });

    test('says that the disk is full when there is no room to start', async (t) => {
      const folder = smallDisk(t, '100m');
      await (await start(t, folder)).stop();
      assert.throws(() => writeFileSync(join(folder, 'filler'), Buffer.alloc(100 * 1024 * 1024)), /ENOSPC/);
      await assert.rejects(start(t, folder), startError(/is full[\s\S]*TOLLGATE_DATA/));
    });
  }
});

function canMount(): boolean {
  return IS_ROOT && works(['unshare', '--mount', 'mount', '-t', 'tmpfs', 'trial', '/mnt']);
}

function smallDisk(t: TestContext, size: string): string {
  const folder = workFolder(t);
  assert.ok(works(['mount', '-t', 'tmpfs', '-o', `size=${size},mode=700`, 'small', folder]));
  atEnd(t, () => works(['umount', '--lazy', folder]));
  return folder;
}
