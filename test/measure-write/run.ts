import { globSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { childClient } from '../processes/child-client.ts';
import { startChild } from '../processes/child-gateway.ts';
import { sodermalm } from '../requests/bookings.ts';

/*
 * Measures how far a reader has to go: books with a code and a key, confirms with a key, and lists the files of the write path
 * that the requests enter, from the route to the response. A file that imports no other file of the write path at run time is a
 * leaf: it can be read alone and is not counted. A return is a call into a file that was read before, such as a callback; from
 * each file it counts once. Coming back from a call to read on is none. Exits with 1 if there is more than the most below.
 */

const most = { files: 15, returns: 7, lines: 3110 };

const { values: options } = parseArgs({ options: { files: { type: 'boolean', default: false } } });
const root = new URL('../../server/src/', import.meta.url);
const onPath = /^(api|appointments|confirmations|operations)\//;
const counted = [
  'operations/*.ts',
  'appointments/write/*.ts',
  'appointments/as-write.ts',
  'appointments/plan-change.ts',
  'api/write-request.ts',
];

const read = (file: string) => readFileSync(new URL(file, root), 'utf8');

function isLeaf(file: string): boolean {
  const imports = [...read(file).matchAll(/^import (?!type )[^;]*? from '(\.[^']*)';/gms)];
  return !imports.some(([text, path = '']) => {
    const target = new URL(path, new URL(file, root)).pathname.slice(root.pathname.length);
    return onPath.test(target) && !/^import \{( type [^,}]*,?)* \}/.test(text);
  });
}

/** The files in the order in which they are entered first, and the calls that return to one of them. */
function wayThrough(calls: readonly string[]) {
  const isRead = (file: string) => onPath.test(file) && !isLeaf(file);
  const files = new Set(['appointments/routes.ts', 'api/route.ts']);
  const returns = new Set<string>();
  for (const [from = '', to = ''] of calls.map((call) => call.split('>'))) {
    if (!isRead(to)) continue;
    if (files.has(to) && to !== 'api/route.ts') returns.add(`${from} calls ${to}`);
    files.add(to);
  }
  return { files: [...files], returns: [...returns] };
}

const dataDir = await mkdtemp(join(tmpdir(), 'measure-write-'));
const gateway = await startChild({ dataDir, preload: new URL('trace-files.ts', import.meta.url) });
try {
  const client = childClient(() => gateway);
  const traced = (key: string) => ({ 'x-trace': 'yes', 'idempotency-key': key });
  const from = new Date(Date.now() + 7 * 24 * 60 * 60 * 1000);
  const query = new URLSearchParams({
    start: from.toISOString(),
    end: new Date(from.getTime() + 14 * 24 * 60 * 60 * 1000).toISOString(),
    resource_id: 'r-1',
    healthcare_service_id: 'consultation',
    limit: '1',
  });
  type Slots = { timeslots: { start: string; end: string }[] };
  const { body } = await client.send<Slots>({ method: 'GET', path: `${sodermalm}/timeslots?${query}` });
  const [slot] = body.timeslots;
  const booked = await client.send<{ id: string }>({
    method: 'POST',
    path: `${sodermalm}/appointments`,
    headers: traced('book'),
    body: {
      patient_id: 'p-1',
      resource_id: 'r-1',
      healthcare_service_id: 'consultation',
      start_time: slot?.start,
      end_time: slot?.end,
    },
  });
  const code = await codeOf(booked.body.id);
  const confirmed = await client.send({
    method: 'PATCH',
    path: `${sodermalm}/appointments/${booked.body.id}`,
    headers: traced('confirm'),
    body: { confirmation: { code } },
  });
  for (const [name, { headers }] of Object.entries({ 'booking with a code': booked, 'its confirmation': confirmed })) {
    const { files, returns } = wayThrough((headers.get('x-files') ?? '').split(' '));
    process.stdout.write(`${name}: ${files.length} files, ${returns.length} returns\n`);
    for (const [count, what] of [
      [files.length, 'files'],
      [returns.length, 'returns'],
    ] as const)
      limit(name, count, what);
    if (options.files) process.stdout.write([...files, ...returns].map((line) => `  ${line}\n`).join(''));
  }
} finally {
  await gateway.kill();
  await rm(dataDir, { recursive: true, force: true });
}
const sources = globSync(counted, { cwd: root }).filter((file) => !/\.test\.ts$/.test(file));
const lines = sources.reduce((sum, file) => sum + read(file).split('\n').length - 1, 0);
process.stdout.write(`${lines} lines in ${sources.length} files: ${counted.join(', ')}\n`);

limit('the write path', lines, 'lines');

function limit(name: string, count: number, what: keyof typeof most): void {
  if (count <= most[what]) return;
  process.stderr.write(`${name}: ${count} ${what}, at most ${most[what]} allowed. \`--files\` lists the files.\n`);
  process.exitCode = 1;
}

/** The code that was sent for the appointment, from the demo's mailbox. */
async function codeOf(id: string): Promise<string> {
  for (;;) {
    const response = await fetch(`${gateway.address}/demo/messages`, { headers: { accept: 'application/json' } });
    const text = await response.text();
    const [, found] = /\b(\d{6})\b/.exec(text) ?? [];
    if (found) return found;
    if (!id) throw new Error('Nothing was booked');
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
