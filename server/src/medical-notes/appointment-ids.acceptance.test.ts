/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { withoutHolds } from '../../../test/ehrs/limited-ehrs.ts';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { type Problem, startGateway } from '../../../test/gateway/gateway.ts';
import { book, riverside } from '../../../test/requests/bookings.ts';
import { bookByCode, expireCode, startCancellation } from '../../../test/requests/codes.ts';

/* A note refers to an appointment by the id that callers know, also where that is not the EHR's. */

const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      if (emr === 'no-notes') {
        const { listMedicalNotes: _, findMedicalNote: __, createMedicalNote: ___, ...others } = connector;
        return others;
      }
      return emr === 'no-hold' ? withoutHolds(connector) : connector;
    }),
  ],
  configure: (demo) =>
    [
      { id: 'no-hold', like: 'sandbox-se', policies: {} },
      { id: 'no-notes', like: 'sandbox-no', policies: {} },
    ].reduce(withEhr, demo),
});
afterAll(() => gateway.close());
const withDrafts = careUnitPath('no-hold', 'sodermalm');

type Note = Problem & { readonly id: string; readonly appointment_id: string | null };

function write(careUnit: string, appointment_id: string, patientId = 'p-3') {
  const body = { text: 'Seen.', appointment_id };
  return gateway.request<Note>('POST', `${careUnit}/patients/${patientId}/medical-notes`, { body });
}

async function read(careUnit: string, noteId: string): Promise<string | null> {
  const path = `${careUnit}/patients/p-3/medical-notes`;
  const { body } = await gateway.request<Note>('GET', `${path}/${noteId}`);
  const list = await gateway.request<{ medical_notes: Note[] }>('GET', path);
  expect(list.body.medical_notes.find(({ id }) => id === noteId)).toEqual(body);
  return body.appointment_id;
}

test('the id of a booked draft is the id of its appointment', async () => {
  const { id } = await bookByCode(gateway, { careUnit: withDrafts });
  const { status, body } = await write(withDrafts, id);
  expect([status, body.appointment_id]).toEqual([201, id]);
  expect(await read(withDrafts, body.id)).toBe(id);
});

test('a draft is not in the EHR, and cannot be referred to', async () => {
  const draft = await book(gateway, { careUnit: withDrafts });
  expect(await write(withDrafts, draft.id)).toMatchObject({
    status: 409,
    body: { reason: 'appointment_awaiting_confirmation', errors: [{ pointer: '/appointment_id' }] },
  });
  const ofAnother = await write(withDrafts, draft.id, 'p-4');
  expect(ofAnother).toMatchObject({ status: 400, body: { reason: 'appointment_not_found' } });
  await expireCode(gateway, draft);
  expect(await write(withDrafts, draft.id)).toMatchObject({ status: 409, body: { reason: 'appointment_cancelled' } });
});

test('the id of a two-step cancellation means the original', async () => {
  const { original, view } = await startCancellation(gateway, riverside);
  const { status, body } = await write(riverside, view.id);
  expect([status, body.appointment_id]).toEqual([201, original.id]);
  expect(await read(riverside, body.id)).toBe(original.id);
});

test('an EHR without medical notes supports none of the operations', async () => {
  const careUnit = careUnitPath('no-notes', 'oslo-sentrum');
  const path = `${careUnit}/patients/nobody/medical-notes`;
  for (const response of [
    await gateway.request('GET', path),
    await gateway.request('GET', `${path}/x`),
    await gateway.request('POST', path, { body: { text: 'x' } }),
  ]) {
    expect(response).toMatchObject({ status: 501, body: { reason: 'operation_unsupported' } });
  }
  const { body } = await gateway.request<{ capabilities: { operations: string[] } }>('GET', '/api/emrs/no-notes');
  expect(body.capabilities.operations.filter((name) => name.includes('medical_note'))).toEqual([]);
});
