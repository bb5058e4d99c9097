import type { ConnectorOperation } from '@crossward/connector-kit';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import type { EhrConnection } from '../ehr/connection.ts';
import { extendSchedules } from './extend-schedules.ts';

function ehrWith({
  isOpen = true,
  offers = true,
  failing = '',
}: {
  isOpen?: boolean;
  offers?: boolean;
  failing?: string;
}) {
  const extended: string[] = [];
  const ehr: Partial<EhrConnection> & Record<string, unknown> = {
    id: 'ehr',
    isOpen,
    careUnits: new Map(['north', 'south'].map((id) => [id, { id, timeZone: 'Europe/Oslo' }])) as never,
    offers: () => offers,
    call: (async (_: ConnectorOperation, careUnit: { id: string }) => {
      if (careUnit.id === failing) throw new Error('down');
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
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ emr: 'ehr', care_unit: 'north' }]);
});

test.each([{ isOpen: false }, { offers: false }])('calls no EHR with %j', async (options) => {
  const { ehr, extended } = ehrWith(options);
  await extendSchedules(ehr, log);
  expect(extended).toEqual([]);
});
