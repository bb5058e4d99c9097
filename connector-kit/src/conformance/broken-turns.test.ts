import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { connector as clinic } from '../../template-booking/src/connector.ts';
import { startEhr } from '../../template-booking/src/ehr-server.ts';
import { contextFor } from '../../template-booking/src/second.ts';
import { facts } from '../../template-booking/src/subject.ts';
import type { Connector, EhrHttp } from '../index.ts';
import { outcomeOf } from './broken.test-support.ts';
import { plainHttp } from './plain-http.ts';
import type { Subject } from './subject.ts';
import { turnsOverProcesses } from './turns-over-processes.ts';

const server = await startEhr();
const turns = await mkdtemp(join(tmpdir(), 'crossward-turns-'));
const inTurn = turnsOverProcesses(turns);
afterAll(() => Promise.all([server.close(), rm(turns, { recursive: true })]));

/** The connector of the template, which books in turn. `isBlind`: it sees no other booking when it looks for one. */
async function subject(isBlind: boolean): Promise<Subject> {
  const plain = plainHttp();
  let bookings = 0;
  const http: EhrHttp = {
    ...plain,
    async send(request) {
      const response = await plain.send(request);
      const isLook = bookings > 0 && request.url.endsWith('/appointments/search');
      return isBlind && isLook ? { ...response, text: '{"entries":[]}' } : response;
    },
  };
  const right = (await clinic.open(contextFor(server.url, { http }))) as Required<Connector>;
  const changeAppointments: Connector['changeAppointments'] = (write) =>
    inTurn('bookings', async () => {
      bookings++;
      try {
        return await right.changeAppointments(write);
      } finally {
        bookings--;
      }
    });
  const careUnit = { id: 'clinic', timeZone: 'Europe/London' };
  return { name: 'clinic', connector: { ...right, changeAppointments }, careUnit, facts, raceRounds: 1 };
}

const race = ['races', 'twenty concurrent bookings of one slot: exactly one succeeds'] as const;

test('a connector that looks after each booking needs no turns', async () => {
  expect(await outcomeOf(await subject(false), ...race)).toMatchObject({ outcome: 'passed', reason: null });
});

test('the kit catches a connector that depends on its turns', async () => {
  const reason = expect.stringContaining('sent without a turn');
  expect(await outcomeOf(await subject(true), ...race)).toMatchObject({ outcome: 'failed', reason });
});
