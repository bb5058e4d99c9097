import type { ConnectorOperation } from '@crossward/connector-kit';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { EhrConnection } from '../ehr/connection.ts';
import { Problem } from '../problems/problem.ts';
import { extendSchedules } from './extend-schedules.ts';

function ehrWith({
  isOpen = true,
  offers = true,
  failing = '',
  error = new Error('down'),
}: {
  isOpen?: boolean;
  offers?: boolean;
  failing?: string;
  error?: Error;
}) {
  const extended: string[] = [];
  const ehr: Partial<EhrConnection> & Record<string, unknown> = {
    id: 'ehr',
    isOpen,
    careUnits: new Map(['north', 'south'].map((id) => [id, { id, timeZone: 'Europe/Oslo' }])) as never,
    offers: () => offers,
    call: (async (_: ConnectorOperation, careUnit: { id: string }) => {
      if (careUnit.id === failing) throw error;
      extended.push(careUnit.id);
    }) as never,
  };
  return { ehr: ehr as unknown as EhrConnection, extended };
}

const lines: string[] = [];
const log = pino({}, { write: (line: string) => void lines.push(line) });

test('extends the schedules of each care unit, whichever fails', async () => {
  const { ehr, extended } = ehrWith({ failing: 'north' });
  await extendSchedules(ehr, log);
  expect(extended).toEqual(['south']);
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 50, emr: 'ehr', care_unit: 'north' }]);
});

test.each(['ehr_unavailable', 'ehr_timeout', 'ehr_paused'] as const)(
  'does not warn of %s, which has its own lines',
  async (reason) => {
    const { ehr } = ehrWith({ failing: 'south', error: new Problem(reason) });
    lines.length = 0;
    await extendSchedules(ehr, log);
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ level: 30, care_unit: 'south' }]);
  },
);

test.each([{ isOpen: false }, { offers: false }])('calls no EHR with %j', async (options) => {
  const { ehr, extended } = ehrWith(options);
  await extendSchedules(ehr, log);
  expect(extended).toEqual([]);
});
