/** @module-tag any-database */
import { afterEach, expect, test } from 'vitest';
import { careUnitPath } from '../../../test/ehrs/other-ehrs.ts';
import { startBeforeFaultyEhrs } from '../../../test/gateway/faulty-ehrs.ts';
import { type Appointment, book, creationBody, freeSlot, type Slot } from '../../../test/requests/bookings.ts';
import { careUnitOf, confirmationOf, eventually, rowsOf } from '../../../test/requests/codes.ts';
import { keysOf } from '../../../test/requests/idempotency-keys.ts';
import { expectProblem } from '../../../test/requests/problems.ts';
import type { Configuration } from '../config/configuration.ts';

/** Longer than any test: only the test ends a hanging call. */
function withoutTimeouts(configuration: Configuration): Configuration {
  const emrs = configuration.emrs.map((emr) => ({ ...emr, connection: { ...emr.connection, timeout_ms: 300_000 } }));
  return { ...configuration, emrs };
}

const { gateway, ehrs } = await startBeforeFaultyEhrs({
  more: ['slow', 'quick'].map((id) => ({ id, like: 'sandbox-se' })),
  configure: withoutTimeouts,
});
const slow = ehrs.of('slow');
const quick = ehrs.of('quick');
let gate = Promise.withResolvers<void>();
afterEach(() => {
  gate.resolve();
  gate = Promise.withResolvers();
});
const { at } = keysOf(gateway);
const pathOf = (emr: string) => careUnitPath(emr, 'sodermalm');

async function hold(emr: string): Promise<Appointment> {
  return book(gateway, { careUnit: pathOf(emr), patientId: 'p-4' });
}

/** The EHR holds it for longer. */
async function endTimeOf(hold: Appointment): Promise<void> {
  const { id } = confirmationOf(hold);
  await rowsOf(gateway, 'UPDATE confirmations SET expires_at = clock_timestamp() WHERE id = $1', [id]);
}

async function stateOf({ id, emr }: Appointment): Promise<string | undefined> {
  return (await gateway.ehr(emr).appointments()).find((it) => it.id === id)?.state;
}

/** The response of the EHR, which has made the hold, is lost. */
async function loseHold(emr: string): Promise<Slot> {
  const slot = await freeSlot(gateway, { careUnit: pathOf(emr) });
  ehrs.of(emr).loseResponse({ isDone: true });
  const response = await careUnitOf(gateway, pathOf(emr)).create({ ...creationBody(slot), patient_id: 'p-5' });
  expectProblem(response, 504, 'outcome_unknown');
  return slot;
}

test('expired holds are released while calls to another EHR hang', async () => {
  const hanging = [await hold('slow'), await hold('slow'), await hold('slow')];
  const mine = await hold('quick');
  slow.hang('changeAppointments', gate.promise);
  for (const it of hanging) await endTimeOf(it);
  await eventually(() => expect(slow.hanging).toBeGreaterThan(0));
  await endTimeOf(mine);
  await expect.poll(() => stateOf(mine)).toBe('cancelled');
  expect(slow.hanging).toBeGreaterThan(0);
  gate.resolve();
  for (const it of hanging) await expect.poll(() => stateOf(it)).toBe('cancelled');
});

test('a write without a response is looked up while another EHR hangs', async () => {
  slow.hang('findOperation', gate.promise);
  const theirs = await loseHold('slow');
  await eventually(() => expect(slow.hanging).toBeGreaterThan(0));
  const mine = await loseHold('quick');
  await expect.poll(() => at(mine, 'quick')).toEqual([]);
  expect(slow.hanging).toBeGreaterThan(0);
  expect(quick.hanging).toBe(0);
  gate.resolve();
  await expect.poll(() => at(theirs, 'slow')).toEqual([]);
});

test('expired holds are released while the look-up of a write in another EHR hangs', async () => {
  const mine = await hold('quick');
  slow.hang('findOperation', gate.promise);
  await loseHold('slow');
  await eventually(() => expect(slow.hanging).toBeGreaterThan(0));
  await endTimeOf(mine);
  await expect.poll(() => stateOf(mine)).toBe('cancelled');
  expect(slow.hanging).toBeGreaterThan(0);
});
