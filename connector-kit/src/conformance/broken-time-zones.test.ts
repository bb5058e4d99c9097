import { afterAll, expect, test } from 'vitest';
import { startEhr } from '../../template-booking/src/ehr-server.ts';
import { facts } from '../../template-booking/src/subject.ts';
import { outcomeOf } from './broken.test-support.ts';
import { connectorInProcess } from './own-process.ts';
import type { Subject } from './subject.ts';

const server = await startEhr();
afterAll(() => server.close());

async function outcomeWith(module: string) {
  const connector = await connectorInProcess(new URL(module, import.meta.url), server.url);
  const subject: Subject = {
    name: 'clinic',
    connector,
    second: connector,
    careUnit: { id: 'clinic', timeZone: 'Europe/London' },
    facts,
  };
  const check = 'reads the same slots in every time zone of the process';
  return outcomeOf(subject, 'time-slots', check).finally(() => connector.close());
}

test('the connector of the template passes in processes with other time zones', async () => {
  expect(await outcomeWith('../../template-booking/src/second.ts')).toMatchObject({ outcome: 'passed', reason: null });
});

test('the kit catches a connector that keeps the time zone in which its process was started', async () => {
  const reason = expect.stringContaining('Pacific/Kiritimati');
  expect(await outcomeWith('./zone-of-opening.test-support.ts')).toMatchObject({ outcome: 'failed', reason });
});
