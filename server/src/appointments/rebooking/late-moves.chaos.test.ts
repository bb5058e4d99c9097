import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { rebooking, withoutOperationIds, withoutTransactions } from '../../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath } from '../../../../test/ehrs/other-ehrs.ts';
import { startBeforeFaultyEhrs } from '../../../../test/gateway/faulty-ehrs.ts';
import { finalResponse, lookedUpWithoutResult } from '../../../../test/gateway/recovery.ts';
import { type Appointment, at, bookEach, consecutiveSlots, type Slot } from '../../../../test/requests/bookings.ts';
import {
  type AppointmentResponse,
  careUnitOf,
  eventually,
  unfinishedOperations,
} from '../../../../test/requests/codes.ts';
import { expectEvents } from '../../../../test/requests/events.ts';
import { expectProblem } from '../../../../test/requests/problems.ts';

const { gateway, ehrs } = await startBeforeFaultyEhrs({
  more: ['operation-ids', 'no-operation-ids'].map((id) => ({ id, like: 'sandbox-no' })),
  limited(faulty, emr) {
    if (emr === 'no-operation-ids') return withoutTransactions(rebooking(withoutOperationIds(faulty)));
    return emr === 'operation-ids' ? withoutTransactions(rebooking(faulty)) : faulty;
  },
});

function inEhr(emr: string) {
  const path = careUnitPath(emr, 'oslo-sentrum');
  const careUnit = careUnitOf(gateway, path);
  return {
    ehr: ehrs.of(emr),
    /** An appointment in the first of two slots. */
    async booked(): Promise<{ readonly first: Appointment; readonly slots: readonly [Slot, Slot] }> {
      const slots = (await consecutiveSlots(gateway, 2, { careUnit: path, resourceId: 'r-1' })) as [Slot, Slot];
      const [first] = (await bookEach(gateway, [slots[0]], { careUnit: path })) as [Appointment];
      return { first, slots };
    },
    move: (id: string, to: Slot, key: string = randomUUID()): Promise<AppointmentResponse> =>
      gateway.request('PATCH', `${path}/appointments/${id}`, { body: at(to), headers: { 'idempotency-key': key } }),
    moveOnce: (id: string, to: Slot) => careUnit.change(id, at(to)),
    async bookedIn([from, to]: readonly [Slot, Slot]): Promise<readonly Appointment[]> {
      const query = new URLSearchParams({ resource_id: 'r-1', start: from.start, end: to.end });
      return (await careUnit.list(query.toString())).filter(({ status }) => status !== 'cancelled');
    },
    settled: () => eventually(async () => expect(await unfinishedOperations(gateway, emr)).toEqual([])),
  };
}

describe.each(['operation-ids', 'no-operation-ids'])('an EHR that finishes late (%s)', (emr) => {
  const { ehr, booked, move, bookedIn, settled } = inEhr(emr);

  test('a cancellation of the former appointment that is made late does no harm', async () => {
    const { first, slots } = await booked();
    const key = randomUUID();
    const late = ehr.finishLate({ kind: 'cancel' });
    expectProblem(await move(first.id, slots[1], key), 504, 'outcome_unknown');
    const { status, body } = await finalResponse(() => move(first.id, slots[1], key));
    expect({ status, body }).toMatchObject({ status: 200, body: { supersedes_id: first.id } });
    await late.finish();
    await settled();
    expect(await bookedIn(slots)).toEqual([body]);
    await expectEvents(gateway, first.id, ['booked', 'cancelled']);
  });

  test('a booking of the new time that is made late is found and completed', async () => {
    const { first, slots } = await booked();
    const key = randomUUID();
    const late = ehr.finishLate({ kind: 'create' });
    expectProblem(await move(first.id, slots[1], key), 504, 'outcome_unknown');
    await late.finish();
    const { status, body } = await finalResponse(() => move(first.id, slots[1], key));
    expect({ status, body }).toMatchObject({ status: 200, body: { supersedes_id: first.id } });
    await settled();
    expect(await bookedIn(slots)).toEqual([body]);
  });
});

test('a new time that is booked after the move has ended as not done is cancelled', async () => {
  const { ehr, booked, moveOnce, bookedIn, settled } = inEhr('operation-ids');
  const { first, slots } = await booked();
  const late = ehr.finishLate({ kind: 'create' });
  expectProblem(await moveOnce(first.id, slots[1]), 504, 'outcome_unknown');
  await lookedUpWithoutResult(ehr, Date.now() + 1_000);
  await settled();
  await late.finish();
  expect(await bookedIn(slots)).toHaveLength(2);
  await eventually(async () => expect(await bookedIn(slots)).toEqual([first]));
  await expectEvents(gateway, first.id, ['booked']);
});
