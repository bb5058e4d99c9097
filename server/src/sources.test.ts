import { pino } from 'pino';
import { Registry } from 'prom-client';
import { expect, test, vi } from 'vitest';
import { watchConfiguration } from './config/file/configuration-state.ts';
import type { StoredEmr } from './ehr/stored/stored-emrs.ts';
import type { Configured } from './reconfigure.ts';
import { assertNotStored, createSources } from './sources.ts';

const file = { configuration: { emrs: [{ id: 'clinic' }] }, connectors: [] } as unknown as Configured;

function row(facts: Partial<StoredEmr>): StoredEmr {
  return { id: 'clinic', definition: {}, isOpen: true, secrets: {}, version: 'v', changedAt: new Date(), ...facts };
}

test('only a stored EHR that is open, and opened by its key, stops the start with a file that has its id', () => {
  const assert = (facts: Partial<StoredEmr>) => () => assertNotStored(file, { revision: 'a', emrs: [row(facts)] });
  expect(assert({})).toThrow(/database has an EHR with this id/);
  expect(assert({ isOpen: false })).not.toThrow();
  expect(assert({ secrets: undefined })).not.toThrow();
});

test('a reading that fails rejects nothing, and is not tried again before its pause', async () => {
  const readStored = vi.fn(async () => {
    throw new Error('away');
  });
  const sources = createSources({
    file,
    stored: { revision: 'a', emrs: [] },
    unused: [],
    known: new Map(),
    migrated: [],
    readStored,
    reconfigure: vi.fn(),
    watch: watchConfiguration(new Registry(), () => new Date()),
    log: pino({ level: 'silent' }),
  });
  await sources.refresh();
  sources.follow('b');
  await sources.stop();
  await vi.waitFor(() => expect(readStored).toHaveBeenCalledTimes(2));
  for (let look = 0; look < 3; look++) {
    await new Promise(setImmediate);
    sources.follow('b');
  }
  await sources.stop();
  expect(readStored).toHaveBeenCalledTimes(2);
  sources.follow('c');
  await sources.stop();
  await vi.waitFor(() => expect(readStored).toHaveBeenCalledTimes(3));
});
