import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultyEhrs } from '../../../test/ehrs/faulty-ehr.ts';
import { withoutTransactions } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  allAvailable,
  finalResponse,
  lookedUpWithoutResult,
  settledResponse,
  withQuickRecovery,
} from '../../../test/gateway/recovery.ts';
import {
  book,
  bookEach,
  consecutiveSlots,
  freeSlot,
  idsIn,
  isFree,
  type Slot,
  at as timeOf,
} from '../../../test/requests/bookings.ts';
import {
  careUnitOf,
  codeFor,
  eventually,
  expireCode,
  messagesAbout,
  startCancellation,
} from '../../../test/requests/codes.ts';
import { eventsAbout, expectEvents } from '../../../test/requests/events.ts';
import {
  type AppointmentResponse,
  change,
  changeMany,
  creation,
  keysOf,
  newKey,
  type Sent,
} from '../../../test/requests/idempotency-keys.ts';
import type { Configuration } from '../config/configuration.ts';

/**
 * When the EHR performs the late write: before reconciliation ends, or after it found that nothing was done. Every test
 * has its own EHR for each case, so that no test waits for another.
 */
const moments = [
  { when: 'during reconciliation', prefix: 'soon', settling_seconds: 10 },
  { when: 'after reconciliation', prefix: 'later', settling_seconds: 1 },
] as const;
type Moment = (typeof moments)[number];

const kinds = {
  hold: 'sandbox-se',
  'keyed-hold': 'sandbox-se',
  'released-hold': 'sandbox-se',
  'retried-hold': 'sandbox-se',
  'rejected-retry': 'sandbox-se',
  'keyed-booking': 'sandbox-no',
  booking: 'sandbox-no',
  code: 'sandbox-se',
  'two-steps': 'sandbox-uk',
  move: 'sandbox-no',
  'no-transactions': 'sandbox-no',
  'keyed-no-transactions': 'sandbox-no',
} as const;
type Kind = keyof typeof kinds;

const careUnits = { 'sandbox-no': 'oslo-sentrum', 'sandbox-se': 'sodermalm', 'sandbox-uk': 'riverside' } as const;
const emrOf = ({ prefix }: Moment, kind: Kind) => `${prefix}-${kind}`;

const policiesOf = (kind: Kind) =>
  kind === 'rejected-retry' ? { limits_per_patient: { pending: 1, codes_per_hour: 100 } } : {};

function configure(demo: Configuration): Configuration {
  const wanted = moments.flatMap((moment) => (Object.keys(kinds) as Kind[]).map((kind) => ({ moment, kind })));
  const { emrs, ...rest } = wanted.reduce(
    (it, { moment, kind }) => withEhr(it, { id: emrOf(moment, kind), like: kinds[kind], policies: policiesOf(kind) }),
    withQuickRecovery(demo),
  );
  const settlingOf = (id: string) => moments.find(({ prefix }) => id.startsWith(`${prefix}-`))?.settling_seconds ?? 1;
  return {
    ...rest,
    emrs: emrs.map((emr) => ({
      ...emr,
      connection: { ...emr.connection, settling_seconds: settlingOf(emr.id) },
    })),
  };
}

const ehrs = faultyEhrs();
const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      const faulty = ehrs.faulty(connector, emr);
      return emr.endsWith('no-transactions') ? withoutTransactions(faulty) : faulty;
    }),
  ],
  configure,
});
beforeAll(() => allAvailable(gateway));
afterAll(() => gateway.close());
const { send, at, stored } = keysOf(gateway);

/** The caller gets outcome_unknown, a look-up finds nothing, and then the EHR performs the write. */
async function finishLate(moment: Moment, emr: string, request: Sent, key?: string): Promise<void> {
  const ehr = ehrs.of(emr);
  const late = ehr.finishLate();
  const { status, body } = await send(request, key);
  expect({ status, reason: body.reason }).toEqual({ status: 504, reason: 'outcome_unknown' });
  const seconds = moment.prefix === 'later' ? moment.settling_seconds : 0;
  await lookedUpWithoutResult(ehr, Date.now() + seconds * 1000);
  await late.finish();
}

function expectStatus({ status, text }: AppointmentResponse, expected: number): void {
  expect(status, text).toBe(expected);
}

describe.concurrent.each(moments)('an EHR that performs a write after the response, $when', (moment) => {
  const place = (kind: Kind) => {
    const emr = emrOf(moment, kind);
    const careUnit = careUnitPath(emr, careUnits[kinds[kind]]);
    return { emr, careUnit, ...careUnitOf(gateway, careUnit) };
  };

  test('keeps no hold without a response', async () => {
    const { emr, careUnit } = place('hold');
    const slot = await freeSlot(gateway, { careUnit });
    await finishLate(moment, emr, creation(slot, careUnit));
    await eventually(async () => expect(await at(slot, emr)).toEqual([]));
    expect(await isFree(gateway, slot, careUnit)).toBe(true);
  });

  test('has one hold after a retry with the key, and its code works', async () => {
    const { emr, careUnit, confirm } = place('keyed-hold');
    const slot = await freeSlot(gateway, { careUnit });
    const key = newKey();
    await finishLate(moment, emr, creation(slot, careUnit), key);
    const response = await finalResponse(() => send(creation(slot, careUnit), key));
    expectStatus(response, 201);
    const { id } = response.body;
    await eventually(async () => expect(await at(slot, emr)).toEqual([{ id, state: 'held' }]));
    expect(await confirm(id, await codeFor(gateway, id))).toMatchObject({ status: 200, body: { status: 'booked' } });
    expect(await messagesAbout(gateway, id)).toHaveLength(1);
  });

  test('holds the time again for a retry with the key after the late hold was released', async () => {
    const { emr, careUnit, confirm } = place('released-hold');
    const slot = await freeSlot(gateway, { careUnit });
    const key = newKey();
    await finishLate(moment, emr, creation(slot, careUnit), key);
    await eventually(async () => expect(await at(slot, emr)).toEqual([]));
    const response = await finalResponse(() => send(creation(slot, careUnit), key));
    expectStatus(response, 201);
    const { id } = response.body;
    expect(await at(slot, emr)).toEqual([{ id, state: 'held' }]);
    expect(await confirm(id, await codeFor(gateway, id))).toMatchObject({ status: 200, body: { status: 'booked' } });
  });

  test('has one booking, which a retry with the key returns', async () => {
    const { emr, careUnit } = place('keyed-booking');
    const slot = await freeSlot(gateway, { careUnit });
    const key = newKey();
    await finishLate(moment, emr, creation(slot, careUnit), key);
    const response = await finalResponse(() => send(creation(slot, careUnit), key));
    expectStatus(response, 201);
    await eventually(async () => expect(await at(slot, emr)).toEqual([{ id: response.body.id, state: 'booked' }]));
    await expectEvents(gateway, response.body.id, ['booked']);
  });

  test('shows a late confirmation as confirmed, even after the code has expired', async () => {
    const { emr, careUnit, get } = place('code');
    const slot = await freeSlot(gateway, { careUnit });
    const held = await book(gateway, { careUnit, slot });
    const code = await codeFor(gateway, held.id);
    await finishLate(moment, emr, change(held.id, { confirmation: { code } }, careUnit));
    await eventually(async () => expect(await get(held.id)).toMatchObject({ status: 'booked', confirmation: null }));
    await expireCode(gateway, held);
    expect(await get(held.id)).toMatchObject({ status: 'booked' });
    expect(await at(slot, emr)).toEqual([{ id: held.id, state: 'booked' }]);
    await eventually(async () => {
      const types = (await eventsAbout(gateway, held.id, 2)).map(({ type }) => type.slice('appointment.'.length));
      // The code may expire before the gateway finds the late confirmation.
      expect(types.filter((type) => type !== 'confirmation_expired')).toEqual(['awaiting_confirmation', 'booked']);
      expect(types.at(-1)).toBe('booked');
    });
  });

  test('shows a late two-step cancellation as cancelled', async () => {
    const { emr, careUnit } = place('two-steps');
    const { original, view } = await startCancellation(gateway, careUnit);
    const code = await codeFor(gateway, view.id);
    const key = newKey();
    const request = change(view.id, { confirmation: { code } }, careUnit);
    await finishLate(moment, emr, request, key);
    await eventually(async () =>
      expect(await stored(view.id, careUnit)).toMatchObject({ status: 'cancelled', confirmation: null }),
    );
    expectStatus(await finalResponse(() => send(request, key)), 200);
    expect(await stored(original.id, careUnit)).toMatchObject({ status: 'cancelled' });
    await expectEvents(gateway, original.id, ['booked', 'awaiting_confirmation', 'cancelled']);
  });

  test('moves the appointment once, and a retry with the key returns the result', async () => {
    const { emr, careUnit } = place('move');
    const [from, to] = (await consecutiveSlots(gateway, 2, { careUnit })) as [Slot, Slot];
    const { id } = await book(gateway, { careUnit, slot: from });
    const key = newKey();
    await finishLate(moment, emr, change(id, timeOf(to), careUnit), key);
    const response = await finalResponse(() => send(change(id, timeOf(to), careUnit), key));
    expectStatus(response, 200);
    expect(response.body).toMatchObject({ id, ...timeOf(to) });
    expect(await at(to, emr)).toEqual([{ id, state: 'booked' }]);
    await expectEvents(gateway, id, ['booked', 'updated']);
  });

  test('leaves no bulk move partially applied, even without a retry', async () => {
    const { emr, careUnit, getAll } = place('no-transactions');
    const slots = await consecutiveSlots(gateway, 3, { careUnit });
    const ids = idsIn(await bookEach(gateway, slots, { careUnit }));
    await finishLate(moment, emr, changeMany(ids, { resource_id: 'r-2' }, careUnit));
    await eventually(async () => {
      const places = (await getAll(ids)).map(({ resource_id }) => resource_id);
      expect(places).toEqual(ids.map(() => places[0]));
    });
  });

  test('moves all appointments for a retry with the key', async () => {
    const { emr, careUnit, getAll } = place('keyed-no-transactions');
    const slots = await consecutiveSlots(gateway, 3, { careUnit });
    const ids = idsIn(await bookEach(gateway, slots, { careUnit }));
    const key = newKey();
    const request = changeMany(ids, { resource_id: 'r-2' }, careUnit);
    await finishLate(moment, emr, request, key);
    expectStatus(await finalResponse(() => send(request, key)), 200);
    expect((await getAll(ids)).map(({ resource_id }) => resource_id)).toEqual(ids.map(() => 'emr_id:r-2'));
  });
});

describe.concurrent('an EHR that gets a second request after reconciliation ended', () => {
  const [, moment] = moments;

  async function endReconciliation(kind: Kind) {
    const emr = emrOf(moment, kind);
    const ehr = ehrs.of(emr);
    const careUnit = careUnitPath(emr, careUnits[kinds[kind]]);
    const [slot, otherSlot] = (await consecutiveSlots(gateway, 2, { careUnit })) as [Slot, Slot];
    const key = newKey();
    const late = ehr.finishLate();
    expectStatus(await send(creation(slot, careUnit), key), 504);
    await lookedUpWithoutResult(ehr, Date.now() + moment.settling_seconds * 1000);
    return {
      ehr,
      late,
      ask: () => settledResponse(() => send(creation(slot, careUnit), key)),
      at: () => at(slot, emr),
      bookAnother: () => book(gateway, { careUnit, slot: otherSlot }),
    };
  }

  test('leaves the outcome unknown if it is unavailable for the second request', async () => {
    const { ehr, late, ask, at } = await endReconciliation('retried-hold');
    ehr.failNext('unavailable');
    expect((await ask()).body).toMatchObject({ reason: 'outcome_unknown' });
    await late.finish();
    await eventually(async () => expect(await at()).toEqual([]));
  });

  test('keeps no hold if the second request was rejected before it reached the EHR', async () => {
    const { late, ask, at, bookAnother } = await endReconciliation('rejected-retry');
    await eventually(bookAnother);
    expectStatus(await ask(), 429);
    await late.finish();
    await eventually(async () => expect(await at()).toEqual([]));
  });
});

test('while the EHR may still perform a write, no response says that it was not performed', async () => {
  const moment = moments[0];
  const emr = emrOf(moment, 'booking');
  const careUnit = careUnitPath(emr, 'oslo-sentrum');
  const slot = await freeSlot(gateway, { careUnit });
  const ehr = ehrs.of(emr);
  const late = ehr.finishLate();
  const key = newKey();
  expectStatus(await send(creation(slot, careUnit), key), 504);
  await lookedUpWithoutResult(ehr, Date.now());
  // A retry neither repeats the write nor gets such a response.
  const once = ehr.finishLate();
  const meanwhile = await settledResponse(() => send(creation(slot, careUnit), key));
  expectStatus(meanwhile, 504);
  await late.finish();
  if (once.isGiven()) await once.finish();
  const response = await finalResponse(() => send(creation(slot, careUnit), key));
  expectStatus(response, 201);
  await eventually(async () => expect(await at(slot, emr)).toEqual([{ id: response.body.id, state: 'booked' }]));
});
