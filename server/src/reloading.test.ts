import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';
import { watchConfiguration } from './config/file/configuration-state.ts';
import { demoConfigurationPath } from './config/file/demo.ts';
import { loadWithConnectors } from './config/file/load.ts';
import { connectors } from './ehr/connectors.ts';
import type { Configured } from './reconfigure.ts';
import { startReloading } from './reloading.ts';
import { ConfigurationError } from './startup/configuration-error.ts';

const text = await readFile(demoConfigurationPath, 'utf8');
const nothing = { added: [], reconnected: [], removed: [] };

/** A gateway with the demo's file, which uses another one as `reconfigure` does. */
async function start(reconfigure: (configured: Configured) => Promise<typeof nothing>) {
  const folder = await mkdtemp(join(tmpdir(), 'crossward-reloading-'));
  const path = join(folder, 'crossward.yaml');
  const write = (content: string) => writeFile(path, content);
  await write(text);
  const loaded = await loadWithConnectors({ path, connectors, environment: process.env });
  const watch = watchConfiguration(new Registry(), () => new Date());
  const reconfigured = vi.fn(reconfigure);
  const log = pino({ level: 'silent' });
  const storedIds = () => new Set(['stored']);
  const { reload, stop } = startReloading({ path, loaded, reconfigure: reconfigured, storedIds, watch, log });
  onTestFinished(async () => {
    await stop();
    await rm(folder, { recursive: true });
  });
  return { write, reload, watch, reconfigured };
}

const named = (name: string) => text.replace(/name: .*/, `name: ${name}`);

test('wishes that come while a reading has not begun are one reading', async () => {
  const gate = Promise.withResolvers<void>();
  const { write, reload, reconfigured, watch } = await start(async () => {
    await gate.promise;
    return nothing;
  });
  const used = vi.spyOn(watch, 'used');
  await write(named('Other'));
  const first = reload(false);
  await vi.waitFor(() => expect(reconfigured).toHaveBeenCalledOnce());
  const answers = [reload(false), reload(false), reload(true), reload(false), reload(true)];
  gate.resolve();
  expect((await first).outcome).toBe('changed');
  expect(new Set(await Promise.all(answers)).size).toBe(2);
  expect(used).toHaveBeenCalledTimes(3);
});

test('the former file is used again after one whose clients were used already', async () => {
  const names: (string | undefined)[] = [];
  const { write, reload } = await start(async ({ configuration }) => {
    names.push(configuration.emrs[0]?.name);
    if (names.length === 1) throw new ConfigurationError(['EHR sandbox-no: does not answer']);
    return nothing;
  });
  await write(named('Other'));
  expect((await reload(false)).outcome).toBe('refused');
  await write(text);
  expect((await reload(false)).outcome).toBe('unchanged');
  expect((await reload(false)).outcome).toBe('unchanged');
  expect(names).toHaveLength(2);
  expect(names[0]).toBe('Other');
  expect(names[1]).not.toBe('Other');
});

test('a file that names another one with a mistake is tried again', async () => {
  vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  let isMissing = true;
  const { write, reload, watch, reconfigured } = await start(async () => {
    if (isMissing) throw new ConfigurationError(['EHR sandbox-no: tls.ca_file: cannot be read']);
    return nothing;
  });
  await write(named('Other'));
  expect((await reload(false)).outcome).toBe('refused');
  // Because the file has changed.
  await vi.waitFor(() => expect(reconfigured).toHaveBeenCalledTimes(2), { timeout: 60_000, interval: 100 });
  isMissing = false;
  await vi.waitFor(() => expect(watch.state.refused).toBeUndefined(), { timeout: 60_000, interval: 100 });
});

test('a file with the id of a stored EHR is refused with its place', async () => {
  const { write, reload, reconfigured } = await start(async () => nothing);
  await write(text.replace('id: sandbox-no', 'id: stored'));
  const { outcome, mistakes } = await reload(false);
  expect(outcome).toBe('refused');
  expect(mistakes).toContainEqual(
    expect.stringMatching(/crossward\.yaml:\d+:\d+: emrs\[0\]\.id: the database has an EHR with the id "stored"/),
  );
  expect(reconfigured).not.toHaveBeenCalled();
});
