/** @module-tag any-database */
import type { Appointment, Bundle, CapabilityStatement } from '@medplum/fhirtypes';
import { afterAll, describe, expect, test } from 'vitest';
import { careUnitPath, withEhr, wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { withPassingPatients } from '../../../test/ehrs/passing-ehr.ts';
import { startGateway } from '../../../test/gateway/gateway.ts';
import { sodermalm } from '../../../test/requests/bookings.ts';
import { bookingOf, fhirClient, issueIn } from './test-requests.ts';

const seen = { patients: [], details: [], searches: [] };
const policies = { booking_confirmation: 'none' as const };

/** `named`: its appointments have ids that contain numbers of patients. `long`: its ids can be longer than those in FHIR. */
const gateway = await startGateway({
  connectors: [
    wrapConnector((connector, emr) => {
      if (emr === 'long')
        return { ...connector, capabilities: { ...connector.capabilities, longAppointmentIds: true } };
      if (emr !== 'passing' && emr !== 'named') return connector;
      const passing = withPassingPatients(connector, seen);
      if (emr === 'passing') return passing;
      return { ...passing, capabilities: { ...passing.capabilities, appointmentIdsNamePatients: true } };
    }),
  ],
  configure: (demo) =>
    ['passing', 'named', 'long'].reduce((all, id) => withEhr(all, { id, like: 'sandbox-se', policies }), demo),
});
afterAll(() => gateway.close());

const { body: one } = await gateway.request<{ identifiers: string[] }>('GET', `${sodermalm}/patients/p-1`);
const { body: two } = await gateway.request<{ identifiers: string[] }>('GET', `${sodermalm}/patients/p-2`);
const numberOf = (it: { identifiers: string[] }) => it.identifiers.find((id) => id.startsWith('se_'))?.split(':')[1];
const system = 'urn:oid:1.2.752.129.2.1.3.1';
const isPatient = ({ actor }: { actor?: { reference?: string } }) => actor?.reference?.startsWith('Patient/');
const patientIn = ({ participant }: Appointment) => participant.find(isPatient)?.actor?.reference?.split('/')[1] ?? '';

describe('an EHR to which identifiers of patients pass through', () => {
  const client = fhirClient(gateway, careUnitPath('passing', 'sodermalm'));

  test('gives each patient an id that can be read, searched and booked again', async () => {
    const slots = await client.slots();
    const references = new Set<string>();
    for (const [index, person] of [one, two].entries()) {
      const actor = { type: 'Patient' as const, identifier: { system, value: numberOf(person) ?? '' } };
      const booking = bookingOf(slots[index], '', { participant: [{ actor, status: 'accepted' }] });
      const { status, body, headers } = await client.post('/Appointment', booking);
      expect({ status, body }).toMatchObject({ status: 201 });
      expect(headers).toMatchObject({ etag: expect.any(String), location: expect.stringContaining(`/${body.id}/`) });
      const patient = patientIn(body);
      expect(patient).toMatch(/^[A-Za-z0-9.-]{1,64}$/);
      expect(patient).not.toBe('undefined');
      references.add(patient);
      expect((await client.get(`/Appointment/${body.id}`)).body).toEqual(body);
      const found = await client.get<Bundle>(`/Appointment?patient=Patient/${patient}`);
      expect(found.body.entry?.map(({ resource }) => resource?.id)).toContain(body.id);
      const again = await client.post('/Appointment', bookingOf(slots[index + 2], patient));
      expect(again.status).toBe(201);
      expect(patientIn(again.body)).toBe(patient);
      // Sent back unchanged, and with a comment.
      const { status: updated, body: after } = await client.put({ ...again.body, comment: 'x' });
      expect({ updated, after }).toMatchObject({ updated: 200, after: { comment: 'x' } });
      // Natively, too.
      const native = await gateway.request<{ appointments: { id: string }[] }>(
        'GET',
        `${careUnitPath('passing', 'sodermalm')}/appointments?patient_id=${patient}&limit=500`,
      );
      expect(native.body.appointments.map(({ id }) => id)).toContain(body.id);
    }
    expect(references.size).toBe(2);
  });

  test.each(['undefined', 'p-1', `p.${'A'.repeat(60)}`])('has no patient %s', async (id) => {
    const [slot] = await client.slots();
    const response = await client.post('/Appointment', bookingOf(slot, id));
    expect(issueIn(response)[0]).toBe(422);
  });
});

describe.each([
  ['name patients', 'named'],
  ['can be too long', 'long'],
])('an EHR whose ids of appointments %s', (_, emr) => {
  const client = fhirClient(gateway, careUnitPath(emr, 'sodermalm'));

  test('offers no Appointment, and refuses before anything is booked', async () => {
    const { body: statement } = await client.get<CapabilityStatement>('/metadata');
    const types = statement.rest?.[0]?.resource?.map(({ type }) => type);
    expect(types).toContain('Slot');
    expect(types).not.toContain('Appointment');
    const [slot, second] = await client.slots();
    const actor = { type: 'Patient' as const, identifier: { system, value: numberOf(one) ?? '' } };
    const booking = bookingOf(slot, '', { participant: [{ actor, status: 'accepted' }] });
    for (const response of [
      await client.post('/Appointment', booking),
      await client.post('/Appointment/$book', { ...booking, status: 'proposed' }),
      await client.get('/Appointment/a-1'),
      await client.get('/Appointment?_id=a-1'),
    ]) {
      expect(issueIn(response as never)[0]).toBe(501);
    }
    expect((await client.slots()).slice(0, 2)).toEqual([slot, second]);
  });
});
