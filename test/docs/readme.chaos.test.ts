import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../database/database.ts';
import { type ChildGateway, startChild } from '../processes/child-gateway.ts';
import { isShellMissing, shellBlocks, shells } from './shell-blocks.ts';

const run = promisify(execFile);

let folder: string;
let database: TestDatabase;
let gateway: ChildGateway | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossward-readme-'));
  // Starts faster than the embedded database. The README's commands do not depend on it.
  database = await createTestDatabase('postgresql');
  gateway = await startChild({ dataDir: join(folder, '.data'), databaseUrl: database.url });
});

afterAll(async () => {
  await gateway?.kill();
  await database?.dispose();
  await rm(folder, { recursive: true, force: true });
});

/** By date in the documents: the second shell books times of its own, and makes schedules for another resource. */
const weekLater: Readonly<Record<string, string>> = {
  '2030-03-15': '2030-03-22',
  '2030-03-18': '2030-03-25',
  '2030-03-19': '2030-03-26',
};

/** The text as it stands, for the gateway of this test. */
function adapted(text: string, shell: string): string {
  const here = text.replaceAll('http://127.0.0.1:8080', gateway?.address ?? '');
  if (shell === 'bash') return here;
  return here
    .replace(/2030-03-1[589]/g, (date) => weekLater[date] ?? date)
    .replaceAll('r-1/schedules', 'r-2/schedules');
}

/** Before a block that reads the mailbox: waits for the message about the newest confirmation, as a person would. */
function waiting(block: string): string {
  if (!block.includes('demo/messages') && !block.includes('$(code)')) return block;
  return `until curl -sS "http://127.0.0.1:8080/demo/messages" -H 'accept: application/json' | grep -q "$(field .id)"; do
sleep 0.05; done\n${block}`;
}

const first = shellBlocks('README.md', 'First request');
const pages = [
  'README',
  'appointments',
  'retries',
  'medical-notes',
  'documents',
  'schedules',
  'patient-page',
  'events',
  'fhir',
];
const guide = pages.flatMap((name) => shellBlocks(`docs/guide/${name}.md`));

describe.each(shells)('in $name', (shell) => {
  const isMissing = isShellMissing(shell);

  // Skipped without the shell on a developer's machine. CI fails instead.
  test.skipIf(isMissing)('the commands of the README and the guide succeed in their order', async () => {
    const commands = [...first, 'echo end of the README', ...guide.map((block) => waiting(block))].join('\n');
    const options = { cwd: folder, maxBuffer: 10_000_000 };
    const { stdout } = await run(shell.name, [...shell.options, '-c', adapted(commands, shell.name)], options);
    const [booked = '', rest = ''] = stdout.split('end of the README');

    const readme = await readFile(new URL('../../README.md', import.meta.url), 'utf8');
    const [, printed = ''] = /```json\n([\s\S]*?)```/.exec(readme) ?? [];
    expect(JSON.parse(booked)).toEqual({ ...JSON.parse(adapted(printed, shell.name)), id: expect.any(String) });

    // The sandbox loses the answer to one booking. A slow gateway can still be looking for it when it is sent again.
    const reasons = [...rest.matchAll(/"type":"\/problems\/(\w+)"/g)].map(([, reason]) => reason);
    expect(reasons.filter((reason) => reason !== 'idempotency_in_progress')).toEqual(['outcome_unknown']);
    expect(rest).toContain('"next_after"');
    expect(rest).toContain('"secret":"whsec_');
    expect([...rest.matchAll(/"id":(?:"[^"]+"|null),"status":"(\w+)","start"/g)].map(([, status]) => status)).toEqual([
      // Moved and cancelled; booked with a code; cancelled with a code.
      ...['booked', 'cancelled', 'awaiting_confirmation', 'booked', 'booked', 'awaiting_confirmation', 'cancelled'],
      // Changed together, previewed; booked twice with one key; booked with a lost answer; booked with a page.
      ...Array.from({ length: 3 + 4 + 2 + 1 }, () => 'booked'),
      'awaiting_confirmation',
    ]);
  });
});

test('no command of a document ends with a comment or contains an id to replace', () => {
  const documents = globSync(['*.md', '{docs,client,examples,connectors,connector-kit,bench}/**/*.md'], {
    cwd: new URL('../..', import.meta.url),
    exclude: ['**/node_modules/**'],
  });
  const wrong = documents.flatMap((path) =>
    shellBlocks(path)
      .join('')
      .split('\n')
      .filter((line) => /(^|\s)#\s/.test(line) || /[0-9a-f]{8}-[0-9a-f]{4}-/.test(line))
      .map((line) => `${path}: ${line}`),
  );
  expect(wrong).toEqual([]);
});
