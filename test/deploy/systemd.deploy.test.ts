import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeEach, describe, expect, inject, test } from 'vitest';
import { createTestDatabase } from '../database/database.ts';
import { type ChildGateway, startChild } from '../processes/child-gateway.ts';
import { freePort } from '../processes/free-port.ts';
import { drainSeconds, longestRequestSeconds } from './stop-times.ts';
import { require, whatIsMissing } from './tools.ts';
import { bookAt, bookWhileItStops, exampleConfiguration, exampleSetup, nodeProcessOf, statusOf } from './visit.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const unit = join(root, 'deploy', 'systemd', 'crossward.service');
const missing = whatIsMissing('systemd-analyze', 'systemd-sysusers');
beforeEach((context) => require(missing, context));

/** Values of a setting of the unit, in their order. */
async function settings(name: string): Promise<string[]> {
  const lines = (await readFile(unit, 'utf8')).split('\n');
  return lines.filter((line) => line.startsWith(`${name}=`)).map((line) => line.slice(name.length + 1));
}

describe('the systemd unit', () => {
  test('has no mistakes', async () => {
    const { stdout, stderr } = await run('systemd-analyze', ['verify', unit]);
    expect(stdout + stderr).not.toContain('crossward');
  });

  test('is exposed less than 2.0, by the measure of systemd', async () => {
    // In tenths: the command fails above the threshold.
    const words = ['security', '--offline=true', '--no-pager', '--threshold=19', unit];
    const { stdout } = await run('systemd-analyze', words);
    const level = Number(/Overall exposure level for crossward\.service: ([\d.]+)/.exec(stdout)?.[1]);
    expect(level).toBeGreaterThan(0);
    expect(level).toBeLessThan(2);
  });

  test('gives the gateway time for its drain and its longest request', async () => {
    const [seconds] = await settings('TimeoutStopSec');
    expect(Number(seconds)).toBeGreaterThan(drainSeconds + longestRequestSeconds);
  });

  test('starts the program that npm start starts', async () => {
    const { scripts } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
    const [start] = await settings('ExecStart');
    expect(start?.replaceAll('/opt/crossward/', '').replace('/bin/sh', 'exec sh')).toBe(scripts.start);
  });

  test('starts, books and completes its requests as its user, with what the unit leaves of rights and files', async (context) => {
    require(whatIsMissing('root', 'unshare', 'setpriv'), context);
    const folder = await mkdtemp(join(inject('runFolder'), 'systemd-'));
    const { uid, gid } = await userOf(folder);
    const setup = exampleSetup();
    const port = await freePort();
    const etc = join(folder, 'etc', 'crossward');
    await mkdir(etc, { recursive: true });
    await exampleConfiguration(etc, await freePort()).then(async (path) => {
      await writeFile(join(etc, 'crossward.yaml'), await readFile(path));
    });
    await run(process.execPath, [join(root, 'server', 'bundle', 'prepare.js')]);
    const database = await createTestDatabase('postgresql', 'empty');
    const variables: Record<string, string> = { ...setup.variables, DATABASE_URL: database.url ?? '', PORT: `${port}` };
    for (const line of await settings('Environment')) {
      const [name = '', value = ''] = line.split(/=(.*)/s);
      variables[name] = value;
    }
    // The variables of the tests are not those of a service.
    const cleared = ['env', '-i', ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)];
    const [start = ''] = await settings('ExecStart');
    const script = [
      'set -e',
      // As TemporaryFileSystem, PrivateTmp, ProtectHome, ProtectProc, ProcSubset and ProtectSystem of the unit do it.
      'mount -t tmpfs -o size=1m none /opt && mkdir /opt/crossward && mount --bind "$1" /opt/crossward',
      'mount --bind "$2" /mnt && mount -t tmpfs none /var && mount -t tmpfs none /root && chmod 700 /root',
      'mount -t proc -o hidepid=invisible,subset=pid none /proc',
      'mount -t tmpfs none /tmp',
      'mount -o remount,bind,ro / && mount -o remount,bind,ro /opt/crossward && cd /opt/crossward',
      'shift 2; exec "$@"',
    ].join('\n');
    const asUser = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--no-new-privs'];
    let gateway: ChildGateway | undefined;
    try {
      gateway = await startChild({
        dataDir: folder,
        setup,
        command: [
          ...(['unshare', '--mount', '--ipc', 'sh', '-c', script, 'sh', root, etc] as const),
          ...asUser,
          ...['--bounding-set=-all', '--inh-caps=-all'],
          ...[...cleared.map((word) => word.replace('/etc/crossward/', '/mnt/')), ...start.split(' ')],
        ],
      });
      // `exec` all the way: systemd's main process is Node.js.
      expect(await nodeProcessOf(gateway.pid)).toBe(gateway.pid);
      const status = await statusOf(gateway.pid);
      expect(status.Uid?.split('\t')).toEqual(Array(4).fill(uid));
      expect(status).toMatchObject({ NoNewPrivs: '1', CapEff: '0000000000000000', CapBnd: '0000000000000000' });
      await bookAt(gateway, 9);
      expect(await bookWhileItStops(gateway, gateway.pid, 10)).toMatch(/HTTP\/1\.1 201 /);
      await gateway.ended;
      expect(gateway.exitCode()).toBe(0);
    } finally {
      await gateway?.kill();
      await database.dispose();
    }
  });
});

/** The user that systemd-sysusers would create, made in a folder in place of this machine's files. */
async function userOf(folder: string): Promise<{ uid: string; gid: string }> {
  const machine = join(folder, 'machine');
  await mkdir(join(machine, 'etc'), { recursive: true });
  await run('systemd-sysusers', [`--root=${machine}`, join(root, 'deploy', 'systemd', 'crossward.sysusers.conf')]);
  const users = (await readFile(join(machine, 'etc', 'passwd'), 'utf8')).split('\n').map((line) => line.split(':'));
  const [, , uid = '', gid = ''] = users.find(([name]) => name === 'crossward') ?? [];
  expect([uid, gid]).not.toContain('0');
  return { uid, gid };
}
