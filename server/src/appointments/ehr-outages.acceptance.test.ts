/** @module-tag any-database */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { faultyEhrs } from '../../../test/ehrs/faulty-ehr.ts';
import { withoutHolds, withoutTransactions } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import {
  allAvailable,
  calledWhileUnavailable,
  finalResponse,
  settledResponse,
  withQuickRecovery,
} from '../../../test/gateway/recovery.ts';
import {
  type Appointment,
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
  backdateCode,
  careUnitOf,
  codeFor,
  confirmationOf,
  eventually,
  expireCode,
  messagesAbout,
  startCancellation,
} from '../../../test/requests/codes.ts';
import {
  type AppointmentResponse,
  change,
  changeMany,
  creation,
  expectStored,
  keysOf,
  newKey,
  type Sent,
} from '../../../test/requests/idempotency-keys.ts';

/** A write to send, and what must be true after its response. */
interface Scenario {
  readonly request: Sent;
  expectDone(response: AppointmentResponse): Promise<void>;
}

/** A kind of write: its EHR and care unit, and the steps that prepare it. */
interface Kind {
  readonly name: string;
  readonly like: keyof typeof careUnits;
  prepare(emr: string, careUnit: string): Promise<Scenario>;
}

const careUnits = { 'sandbox-no': 'oslo-sentrum', 'sandbox-se': 'sodermalm', 'sandbox-uk': 'riverside' } as const;

const kinds: readonly Kind[] = [
  {
    name: 'a booking',
    like: 'sandbox-no',
    async prepare(emr, careUnit) {
      const slot = await freeSlot(gateway, { careUnit });
      return {
        request: creation(slot, careUnit),
        async expectDone({ status, body }) {
          expect({ status, body }).toMatchObject({ status: 201, body: { status: 'booked', ...timeOf(slot) } });
          expect(await at(slot, emr)).toEqual([{ id: body.id, state: 'booked' }]);
        },
      };
    },
  },
  {
    name: 'a booking by code',
    like: 'sandbox-se',
    async prepare(emr, careUnit) {
      const slot = await freeSlot(gateway, { careUnit });
      return {
        request: creation(slot, careUnit),
        async expectDone({ status, body }) {
          expect({ status, body }).toMatchObject({ status: 201, body: { status: 'awaiting_confirmation' } });
          expect(await at(slot, emr)).toEqual([{ id: body.id, state: 'held' }]);
          const code = await codeFor(gateway, body.id);
          expect(await careUnitOf(gateway, careUnit).confirm(body.id, code)).toMatchObject({ status: 200 });
          expect(await messagesAbout(gateway, body.id)).toHaveLength(1);
          expect(await at(slot, emr)).toEqual([{ id: body.id, state: 'booked' }]);
        },
      };
    },
  },
  {
    name: 'a code',
    like: 'sandbox-se',
    async prepare(emr, careUnit) {
      const slot = await freeSlot(gateway, { careUnit });
      const { id } = await book(gateway, { careUnit, slot });
      const code = await codeFor(gateway, id);
      return {
        request: change(id, { confirmation: { code } }, careUnit),
        async expectDone({ status, body }) {
          expect({ status, body }).toMatchObject({ status: 200, body: { id, status: 'booked', confirmation: null } });
          expect(await at(slot, emr)).toEqual([{ id, state: 'booked' }]);
        },
      };
    },
  },
  {
    name: 'a cancellation',
    like: 'sandbox-no',
    async prepare(emr, careUnit) {
      const slot = await freeSlot(gateway, { careUnit });
      const { id } = await book(gateway, { careUnit, slot });
      return {
        request: change(id, { status: 'cancelled', comment: 'why' }, careUnit),
        async expectDone({ status, body }) {
          expect({ status, body }).toMatchObject({ status: 200, body: { id, status: 'cancelled', comment: 'why' } });
          expect(await at(slot, emr)).toEqual([]);
        },
      };
    },
  },
  {
    name: 'a cancellation code',
    like: 'sandbox-uk',
    async prepare(emr, careUnit) {
      const { original, view } = await startCancellation(gateway, careUnit);
      const code = await codeFor(gateway, view.id);
      return {
        request: change(view.id, { confirmation: { code } }, careUnit),
        async expectDone({ status, body }) {
          expect({ status, body }).toMatchObject({ status: 200, body: { id: view.id, status: 'cancelled' } });
          expect(await stored(original.id, careUnit)).toMatchObject({ status: 'cancelled' });
          expect(await at(original, emr)).toEqual([]);
        },
      };
    },
  },
  {
    name: 'a move',
    like: 'sandbox-no',
    async prepare(emr, careUnit) {
      const [from, to] = (await consecutiveSlots(gateway, 2, { careUnit })) as [Slot, Slot];
      const { id } = await book(gateway, { careUnit, slot: from });
      return {
        request: change(id, { ...timeOf(to), comment: 'new' }, careUnit),
        async expectDone({ status, body }) {
          expect({ status, body }).toMatchObject({ status: 200, body: { id, ...timeOf(to), comment: 'new' } });
          expect(await at(to, emr)).toEqual([{ id, state: 'booked' }]);
          expect(await isFree(gateway, from, careUnit)).toBe(true);
        },
      };
    },
  },
  {
    name: 'a bulk move',
    like: 'sandbox-no',
    async prepare(emr, careUnit) {
      const slots = (await consecutiveSlots(gateway, 2, { careUnit, resourceId: 'r-3' })) as [Slot, Slot];
      const ids = idsIn(await bookEach(gateway, slots, { careUnit }));
      return {
        request: changeMany(ids, { resource_id: 'r-4' }, careUnit),
        async expectDone({ status, body }) {
          expect({ status, ids: idsIn(body.appointments) }).toEqual({ status: 200, ids });
          for (const [index, slot] of slots.entries()) {
            const moved = { ...slot, resource_id: 'emr_id:r-4' };
            expect(await at(moved, emr)).toEqual([{ id: ids[index], state: 'booked' }]);
            expect(await at(slot, emr)).toEqual([]);
          }
        },
      };
    },
  },
  {
    name: 'a continuous reschedule',
    like: 'sandbox-no',
    async prepare(emr, careUnit) {
      const [first, second, third] = (await consecutiveSlots(gateway, 3, { careUnit })) as [Slot, Slot, Slot];
      const { id } = await book(gateway, { careUnit, slot: first });
      return {
        request: changeMany([id], { start: second.start, end: third.end }, careUnit),
        async expectDone({ status, body }) {
          expect({ status, starts: body.appointments.map(({ start }) => start) }).toEqual({
            status: 200,
            starts: [second.start, third.start],
          });
          expect(await at({ ...second, end: third.end }, emr)).toHaveLength(2);
          expect(await at(first, emr)).toEqual([]);
        },
      };
    },
  },
  {
    name: 'a resent code',
    like: 'sandbox-se',
    async prepare(emr, careUnit) {
      const slot = await freeSlot(gateway, { careUnit });
      const waiting = await book(gateway, { careUnit, slot });
      await messagesAbout(gateway, waiting.id);
      await backdateCode(gateway, confirmationOf(waiting).id, 60);
      return {
        request: { method: 'POST', path: `${careUnit}/appointments/${waiting.id}/confirmation` },
        async expectDone({ status, body }) {
          expect({ status, body }).toMatchObject({ status: 202, body: { id: waiting.id } });
          const code = await codeFor(gateway, waiting.id, 2);
          expect(await careUnitOf(gateway, careUnit).confirm(waiting.id, code)).toMatchObject({ status: 200 });
          expect(await messagesAbout(gateway, waiting.id)).toHaveLength(2);
          expect(await at(slot, emr)).toEqual([{ id: waiting.id, state: 'booked' }]);
        },
      };
    },
  },
];

/** Each test has its own EHR, so that no test waits for another. */
const scenarios = kinds.flatMap((kind, index) =>
  [true, false].map((isDone) => ({ ...kind, isDone, emr: `away-${index}-${isDone ? 'done' : 'undone'}` })),
);
const others = [
  { id: 'unkeyed', like: 'sandbox-no' },
  { id: 'unkeyed-by-code', like: 'sandbox-se' },
  { id: 'no-hold', like: 'sandbox-se' },
  { id: 'no-hold-given-up', like: 'sandbox-se' },
  { id: 'no-hold-uk', like: 'sandbox-uk' },
  { id: 'no-transactions', like: 'sandbox-no' },
  { id: 'no-transactions-cancelled', like: 'sandbox-no' },
] as const;

const ehrs = faultyEhrs();
const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      const faulty = ehrs.faulty(connector, emr);
      if (emr.startsWith('no-hold')) return withoutHolds(faulty);
      return emr.startsWith('no-transactions') ? withoutTransactions(faulty) : faulty;
    }),
  ],
  configure: (demo) =>
    withQuickRecovery(
      [...scenarios.map(({ emr, like }) => ({ id: emr, like })), ...others].reduce(
        (configuration, { id, like }) => withEhr(configuration, { id, like, policies: {} }),
        demo,
      ),
    ),
});
beforeAll(() => allAvailable(gateway));
afterAll(() => gateway.close());
const { send, at, stored } = keysOf(gateway);

function expectUnknown({ status, body }: AppointmentResponse): void {
  expect({ status, reason: body.reason }).toEqual({ status: 504, reason: 'outcome_unknown' });
}

/**
 * The EHR loses the response and stays unavailable for background jobs and for a retry with the key. Returns the
 * retry's response.
 */
async function loseResponseAndRetry(emr: string, request: Sent, key = newKey()): Promise<AppointmentResponse> {
  expectUnknown(await send(request, key));
  await calledWhileUnavailable(ehrs.of(emr));
  return settledResponse(() => send(request, key));
}

describe.concurrent('an EHR that loses a response and is unavailable during a retry', () => {
  test.for(scenarios)(
    '$name, performed: $isDone, gets the actual outcome after the outage, and happened once',
    async ({ emr, like, isDone, prepare }) => {
      const ehr = ehrs.of(emr);
      const { request, expectDone } = await prepare(emr, careUnitPath(emr, careUnits[like]));
      const key = newKey();
      ehr.goDownDuring({ isDone });
      const meanwhile = await loseResponseAndRetry(emr, request, key);
      ehr.comeUp();
      const ask = () => send(request, key);
      const response = await finalResponse(ask);
      expect(response.status, response.text).toBeLessThan(300);
      await expectDone(response);
      expectStored(await ask(), response);
      expectUnknown(meanwhile);
    },
  );

  test('has one booking for a request without a key', async () => {
    const careUnit = careUnitPath('unkeyed', 'oslo-sentrum');
    const ehr = ehrs.of('unkeyed');
    const slot = await freeSlot(gateway, { careUnit });
    ehr.goDownDuring({ isDone: true });
    expectUnknown(await send(creation(slot, careUnit), undefined));
    await calledWhileUnavailable(ehr);
    ehr.comeUp();
    const [made, ...more] = await at(slot, 'unkeyed');
    expect(more).toEqual([]);
    expect(await stored(made?.id ?? '', careUnit)).toMatchObject({ status: 'booked', start: slot.start });
  });

  test('releases the hold of a request without a key, because no caller knows of it', async () => {
    const careUnit = careUnitPath('unkeyed-by-code', 'sodermalm');
    const ehr = ehrs.of('unkeyed-by-code');
    const slot = await freeSlot(gateway, { careUnit });
    ehr.goDownDuring({ isDone: true });
    expectUnknown(await send(creation(slot, careUnit), undefined));
    await calledWhileUnavailable(ehr);
    expect(await at(slot, 'unkeyed-by-code')).toHaveLength(1);
    ehr.comeUp();
    await eventually(async () => expect(await at(slot, 'unkeyed-by-code')).toEqual([]));
    expect(await isFree(gateway, slot, careUnit)).toBe(true);
  });

  test('shows a draft that the EHR booked as booked, even without a retry', async () => {
    const careUnit = careUnitPath('no-hold', 'sodermalm');
    const slot = await freeSlot(gateway, { careUnit });
    const draft = await book(gateway, { careUnit, slot });
    const code = await codeFor(gateway, draft.id);
    ehrs.of('no-hold').goDownDuring({ isDone: true });
    await loseResponseAndRetry('no-hold', change(draft.id, { confirmation: { code } }, careUnit));
    ehrs.of('no-hold').comeUp();
    await eventually(async () => expect(await stored(draft.id, careUnit)).toMatchObject({ status: 'booked' }));
    expect(await at(slot, 'no-hold')).toHaveLength(1);
  });

  test('shows a draft in the state of the EHR, although it was released in the meantime', async () => {
    const emr = 'no-hold-given-up';
    const careUnit = careUnitPath(emr, 'sodermalm');
    const slot = await freeSlot(gateway, { careUnit });
    const draft = await book(gateway, { careUnit, slot });
    const code = await codeFor(gateway, draft.id);
    ehrs.of(emr).goDownDuring({ isDone: true });
    await loseResponseAndRetry(emr, change(draft.id, { confirmation: { code } }, careUnit));
    await careUnitOf(gateway, careUnit).cancel(draft.id);
    ehrs.of(emr).comeUp();
    await eventually(async () => {
      const { status } = await stored(draft.id, careUnit);
      expect([status, await at(slot, emr)]).toEqual(
        status === 'booked' ? ['booked', [expect.anything()]] : ['cancelled', []],
      );
    });
  });

  test('shows a two-step cancellation that the EHR performed, even after its code has expired', async () => {
    const emr = 'no-hold-uk';
    const careUnit = careUnitPath(emr, 'riverside');
    const { original, view } = await startCancellation(gateway, careUnit);
    const code = await codeFor(gateway, view.id);
    ehrs.of(emr).goDownDuring({ isDone: true });
    await loseResponseAndRetry(emr, change(view.id, { confirmation: { code } }, careUnit));
    ehrs.of(emr).comeUp();
    await eventually(async () =>
      expect(await stored(view.id, careUnit)).toMatchObject({ status: 'cancelled', confirmation: null }),
    );
    await expireCode(gateway, view);
    expect(await stored(view.id, careUnit)).toMatchObject({ status: 'cancelled' });
    expect(await stored(original.id, careUnit)).toMatchObject({ status: 'cancelled' });
  });

  describe('and has no transactions', () => {
    const moved = { resource_id: 'r-2' };

    async function threeOf(careUnit: string): Promise<readonly Appointment[]> {
      return bookEach(gateway, await consecutiveSlots(gateway, 3, { careUnit }), { careUnit });
    }

    test('has all appointments moved or none, even without a retry', async () => {
      const careUnit = careUnitPath('no-transactions', 'oslo-sentrum');
      const ids = idsIn(await threeOf(careUnit));
      const request = changeMany(ids, moved, careUnit);
      const key = newKey();
      ehrs.of('no-transactions').goDownDuring({ isDone: true, after: 1 });
      await loseResponseAndRetry('no-transactions', request, key);
      ehrs.of('no-transactions').comeUp();
      const places = async () =>
        new Set((await careUnitOf(gateway, careUnit).getAll(ids)).map(({ resource_id }) => resource_id));
      await eventually(async () => expect((await places()).size).toBe(1));
      expect(await finalResponse(() => send(request, key))).toMatchObject({ status: 200 });
      expect(await places()).toEqual(new Set(['emr_id:r-2']));
    });

    test('has all appointments cancelled after a retry with the key', async () => {
      const emr = 'no-transactions-cancelled';
      const careUnit = careUnitPath(emr, 'oslo-sentrum');
      const ids = idsIn(await threeOf(careUnit));
      const request = changeMany(ids, { status: 'cancelled' }, careUnit);
      const key = newKey();
      ehrs.of(emr).goDownDuring({ isDone: true, after: 1 });
      await loseResponseAndRetry(emr, request, key);
      ehrs.of(emr).comeUp();
      expect(await finalResponse(() => send(request, key))).toMatchObject({ status: 200 });
      const all = await careUnitOf(gateway, careUnit).getAll(ids);
      expect(all.map(({ status }) => status)).toEqual(ids.map(() => 'cancelled'));
    });
  });
});
