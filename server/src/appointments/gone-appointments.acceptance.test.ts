import { type Connector, ConnectorError } from '@crossward/connector-kit';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { withoutHolds } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { type Appointment, at, bergen, book, freeSlot, nextMonth, oslo } from '../../../test/requests/bookings.ts';
import {
  bookByCode,
  careUnitOf,
  codeFor,
  expireCode,
  rowsOf,
  runBackgroundJobs,
  startCancellation,
} from '../../../test/requests/codes.ts';
import { expectFaults, expectProblem } from '../../../test/requests/problems.ts';

/** Ids that EHRs have no more: staff have deleted them, or the EHR deletes what is cancelled. */
const deleted = new Set<string>();
/** Called with the ids that a write names, before it is made. */
let beforeWrite: (ids: readonly string[]) => void;
beforeEach(() => {
  beforeWrite = () => undefined;
});

function forgetting(connector: Connector): Connector {
  const { findAppointments, listAppointments, changeAppointments } = connector;
  const isThere = ({ id }: { readonly id: string }) => !deleted.has(id);
  return {
    ...connector,
    findAppointments: async (...query) => ((await findAppointments?.(...query)) ?? []).filter(isThere),
    listAppointments: async (query) => ((await listAppointments?.(query)) ?? []).filter(isThere),
    async changeAppointments(write) {
      const ids = write.changes.flatMap((it) => (it.kind === 'create' ? [] : [it.appointmentId]));
      beforeWrite(ids);
      if (ids.some((id) => deleted.has(id))) throw new ConnectorError('appointment_not_found', 'No such appointment');
      return (await changeAppointments?.(write)) ?? [];
    },
  };
}

const gateway = await startGateway({
  connectors: [wrapConnector((connector, emr) => forgetting(emr === 'no-hold' ? withoutHolds(connector) : connector))],
  configure: (demo) => withEhr(demo, { id: 'no-hold', like: 'sandbox-se', policies: {} }),
});
afterAll(() => gateway.close());

const careUnit = careUnitOf(gateway, oslo);

describe('what the EHR has no more', () => {
  test('is cancelled, with what is known, after a cancellation through the gateway', async () => {
    const { id } = await book(gateway, { comment: 'before' });
    const { body: cancelled } = await careUnit.cancel(id, { comment: 'after' });
    deleted.add(id);
    expect(await careUnit.get(id)).toEqual(cancelled);
    const again = await careUnit.cancel(id);
    expect([again.status, again.body]).toEqual([200, cancelled]);
    expect(await careUnit.list('patient_id=p-3&status=cancelled')).not.toContainEqual(expect.objectContaining({ id }));
  });

  test.each<[string, (slot: object) => object]>([
    ['deleted by staff', () => ({})],
    ['moved here before', (slot) => slot],
    ['given another comment here before', () => ({ comment: 'after' })],
  ])('is cancelled if it was %s', async (_, update) => {
    const booked = await book(gateway, { comment: 'before' });
    const body = update(at(await freeSlot(gateway, { from: nextMonth() })));
    const last = Object.keys(body).length === 0 ? booked : (await careUnit.change(booked.id, body)).body;
    deleted.add(booked.id);
    const shown = await careUnit.get(booked.id);
    expect(shown).toEqual({ ...booked, ...body, status: 'cancelled' });
    expect(shown).toMatchObject({ start: last.start, comment: last.comment, patient_id: booked.patient_id });
    expect((await careUnit.cancel(booked.id)).body).toEqual(shown);
    expectProblem(await careUnit.change(booked.id, { comment: 'x' }), 409, 'appointment_cancelled');
  });

  test('is cancelled in changes of several', async () => {
    const [gone, there] = [await book(gateway), await book(gateway)];
    deleted.add(gone.id);
    expectFaults(await careUnit.changeMany([there.id, gone.id], { comment: 'x' }), {
      status: 409,
      reason: 'appointment_cancelled',
      errors: [[1, gone.id, 'appointment_cancelled']],
    });
    const { status, body } = await careUnit.changeMany([gone.id, there.id], { status: 'cancelled' });
    expect([status, body.appointments.map((it) => it.status)]).toEqual([200, ['cancelled', 'cancelled']]);
  });

  test('is unknown in another care unit, and so is what was never there', async () => {
    const { id } = await book(gateway);
    deleted.add(id);
    for (const path of [`${bergen}/appointments/${id}`, `${oslo}/appointments/none`]) {
      expect((await gateway.request('GET', path)).status).toBe(404);
    }
  });

  test('is cancelled if it is deleted between the reading and the writing', async () => {
    const [first, second] = [await book(gateway), await book(gateway)];
    beforeWrite = (ids) => ids.forEach((it) => void deleted.add(it));
    expectProblem(await careUnit.change(first.id, { comment: 'x' }), 409, 'appointment_cancelled');
    const { status, body } = await careUnit.cancel(second.id, { comment: 'after' });
    expect([status, body]).toEqual([200, { ...second, status: 'cancelled', comment: 'after' }]);
    for (const { id } of [first, second]) expect((await careUnit.get(id)).status).toBe('cancelled');
  });
});

test('the id of a draft stays valid', async () => {
  const path = careUnitPath('no-hold', 'sodermalm');
  const unit = careUnitOf(gateway, path);
  const booked: Appointment = await bookByCode(gateway, { careUnit: path, patientId: 'p-4', comment: 'before' });
  for (const { id } of await gateway.ehr('no-hold').appointments()) deleted.add(id);
  expect(await unit.get(booked.id)).toEqual({ ...booked, status: 'cancelled' });
  expectProblem(await unit.change(booked.id, { comment: 'x' }), 409, 'appointment_cancelled');
});

test('a hold that the EHR has no more is cancelled, and its code confirms nothing', async () => {
  const path = '/api/emrs/sandbox-se/care-units/sodermalm';
  const unit = careUnitOf(gateway, path);
  const held = await book(gateway, { careUnit: path, patientId: 'p-5' });
  const code = await codeFor(gateway, held.id);
  deleted.add(held.id);
  expect(await unit.get(held.id)).toMatchObject({ id: held.id, status: 'cancelled', confirmation: null });
  expectProblem(await unit.confirm(held.id, code), 409, 'confirmation_not_pending');
  await expireCode(gateway, held);
  await runBackgroundJobs(gateway);
});

test('a cancellation in two steps of what the EHR has no more is done', async () => {
  const { original, view } = await startCancellation(gateway);
  const unit = careUnitOf(gateway, '/api/emrs/sandbox-uk/care-units/riverside');
  deleted.add(original.id);
  expect(await unit.get(original.id)).toEqual({ ...original, status: 'cancelled' });
  expect(await unit.cancel(original.id)).toMatchObject({ status: 200, body: { status: 'cancelled' } });
  expect((await unit.get(view.id)).replaces_id).toBe(original.id);
  expect((await unit.confirm(view.id, await codeFor(gateway, view.id))).status).toBe(200);
  expect(await unit.get(view.id)).toMatchObject({ status: 'cancelled', replaces_id: original.id });
});

test('the patient and the comment are in no plain text, and are forgotten with the event', async () => {
  const { id } = await book(gateway, { comment: 'Ont i knät' });
  const rows = await rowsOf<{ row: string }>(gateway, 'SELECT row_to_json(events)::text AS row FROM events');
  for (const { row } of rows) expect(row).not.toMatch(/knät|p-3|patient/);
  deleted.add(id);
  await rowsOf(gateway, 'DELETE FROM events WHERE subject = $1', [id]);
  expect((await gateway.request('GET', `${oslo}/appointments/${id}`)).status).toBe(404);
});
