import { describe, expect, test } from 'vitest';
import type { FakeOptions } from '../fake/server.ts';
import type { FhirAppointment, FhirResource } from '../src/fhir.ts';
import { patientIdOf } from '../src/mappers/appointment.ts';
import type { FhirSettings } from '../src/settings.ts';
import { creation, freeSlots, write } from './bookings.ts';
import { startFake } from './fake.ts';
import { north, openConnector, settingsFor } from './subject.ts';

async function open(settings: Partial<FhirSettings> = {}, options: FakeOptions = {}) {
  const server = await startFake({ data: { days: 7 }, ...options });
  const connector = await openConnector(settingsFor(server.url, settings));
  const change = (id: string, elements: object) =>
    server.store.save({ ...server.store.get(`Patient/${id}`), ...elements } as FhirResource);
  const replace = (id: string, by: string) => change(id, { link: [{ type: 'replaced-by', other: { reference: by } }] });
  const book = async (patientId: string) => {
    const [slot] = await freeSlots(connector, 1);
    if (!slot) throw new Error('No free slot');
    const [made] = await write(connector, [{ ...creation(slot), patientId }]);
    return made;
  };
  return { server, connector, change, replace, book };
}

const byId = (value: string) => ({ type: 'emr_id', value }) as const;
const number = { type: 'se_personal_number', value: '197010632391' } as const;

describe('the appointments of a patient', () => {
  test.each([
    ['says that it replaces others', false],
    ['is named by those that it replaced', true],
  ])('whose record %s include those that name the replaced records', async (_, searchesPatientLinks) => {
    const { server, connector, change, replace, book } = await open({}, { searchesPatientLinks });
    const made = [await book('p-2'), await book('p-3'), await book('p-4'), await book('p-5')];
    const replaces = (...ids: string[]) => ({
      link: ids.map((id) => ({ type: 'replaces', other: { reference: `Patient/${id}` } })),
    });
    if (searchesPatientLinks) {
      replace('p-2', 'Patient/p-3');
      replace('p-3', 'Patient/p-4');
    } else {
      change('p-4', replaces('p-3'));
      change('p-3', replaces('p-2'));
    }
    // A relative's record is no record of the patient.
    change('p-5', { link: [{ type: 'seealso', other: { reference: 'Patient/p-4' } }] });
    const query = { careUnit: north, patientId: 'p-4', limit: 10 };
    for (const isLookedUp of [false, true]) {
      if (isLookedUp) await connector.findPatient?.(byId('p-4'));
      const listed = (await connector.listAppointments?.(query)) ?? [];
      expect(listed.map(({ id }) => id)).toEqual(made.slice(0, 3).map((it) => it?.id));
      expect(listed.map(({ patientId }) => patientId)).toEqual(['p-4', 'p-4', 'p-4']);
    }
    expect(server.seen.some(({ path, query: text }) => path === '/Patient' && text.includes('link='))).toBe(
      searchesPatientLinks,
    );
  });

  test('cost no further request when the patient was just looked up', async () => {
    const { server, connector } = await open();
    await connector.listResources?.(north);
    await connector.findPatient?.(byId('p-4'));
    server.seen.splice(0);
    await connector.listAppointments?.({ careUnit: north, patientId: 'p-4', limit: 10 });
    expect(server.seen.map(({ path }) => path)).toEqual(['/Appointment']);
  });
});

describe('a patient who', () => {
  test.each([
    ['has died', { deceasedBoolean: true }],
    ['died at a known time', { deceasedDateTime: '2026-01-01T12:00:00Z' }],
    ['is inactive', { active: false }],
  ])('%s is returned, but cannot be booked', async (_, elements) => {
    const { connector, change, book } = await open();
    change('p-2', elements);
    expect(await connector.findPatient?.(byId('p-2'))).toMatchObject({ id: 'p-2', isInactive: true });
    expect(await connector.findPatient?.(number)).toMatchObject({ id: 'p-2', isInactive: true });
    await expect(book('p-2')).rejects.toMatchObject({ kind: 'patient_inactive' });
  });

  test.each(['auto', 'create'] as const)(
    'has been replaced is returned as the replacement, and booked by %s',
    async (mode) => {
      const { server, connector, change, replace, book } = await open({ booking: { mode } });
      replace('p-2', 'Patient/p-3');
      change('p-2', { active: false });
      replace('p-3', `${server.url}/Patient/p-4/_history/1`);
      expect(await connector.findPatient?.(byId('p-2'))).toMatchObject({ id: 'p-4', replaces: [byId('p-2')] });
      expect(await connector.findPatient?.(number)).toMatchObject({ id: 'p-4', replaces: [number] });
      expect(await connector.findPatient?.(byId('p-4'))).not.toHaveProperty('replaces');
      const made = await book('p-2');
      expect(made).toMatchObject({ patientId: 'p-4' });
      expect(patientIdOf(server.store.get(`Appointment/${made?.id}`) as FhirAppointment)).toBe('p-4');
    },
  );

  test('has been replaced by a patient who has died cannot be booked', async () => {
    const { change, replace, book } = await open();
    replace('p-2', 'Patient/p-3');
    change('p-3', { deceasedBoolean: true });
    await expect(book('p-2')).rejects.toMatchObject({ kind: 'patient_inactive' });
  });

  test.each([
    ['themselves', ['Patient/p-2', 'Patient/p-4']],
    ['a patient whom it replaced', ['Patient/p-3', 'Patient/p-2']],
    ['nobody', ['Patient/p-404', 'Patient/p-4']],
    ['a resource that is not a patient', ['RelatedPerson/p-3', 'Patient/p-4']],
    ['a patient of another server', ['https://other.example/fhir/Patient/p-3', 'Patient/p-4']],
  ])('has been replaced by %s cannot be booked', async (_, [first = '', second = '']) => {
    const { connector, replace, book } = await open();
    replace('p-2', first);
    replace('p-3', second);
    expect(await connector.findPatient?.(byId('p-2'))).toMatchObject({ id: 'p-2', isInactive: true });
    expect(await connector.findPatient?.(number)).toMatchObject({ id: 'p-2', isInactive: true });
    await expect(book('p-2')).rejects.toMatchObject({ kind: 'patient_inactive' });
  });
});

describe('a search', () => {
  const names = (familyName: string) => ({ familyName, birthDate: '1984-02-17', limit: 10 });

  test.each([
    [[{ text: 'Pigg Testlund' }], 'Testlund'],
    [[{ text: 'Testlund, Pigg' }], 'testlund '],
    [[{ text: 'Pigg Testlund' }], 'Pigg Testlund'],
    [[{ use: 'usual', text: 'Pigg O’Test Lund' }], "o'test lund"],
  ])('finds a person whose name is %j by %s, and is one request more', async (name, wanted) => {
    const { server, connector, change } = await open();
    change('p-3', { name });
    server.seen.splice(0);
    expect((await connector.searchPatients?.(names(wanted)))?.map(({ id }) => id)).toEqual(['p-3']);
    expect(server.seen.map(({ path }) => path)).toEqual(['/Patient/_search', '/Patient/_search']);
    expect(await connector.searchPatients?.(names('Pig'))).toEqual([]);
    expect(await connector.searchPatients?.({ ...names(wanted), birthDate: '1984-02-18' })).toEqual([]);
  });

  test.each<[string, FakeOptions]>([
    ['does not have', { habits: { searches: { Patient: ['family', 'birthdate', 'phone', '_sort', '_count'] } } }],
    ['refuses', { habits: { refuses: ['Patient.name'] } }],
  ])('by name is one by family name on a server that %s the parameter', async (_, options) => {
    const { connector } = await open({}, options);
    expect((await connector.searchPatients?.(names('TESTLUND')))?.map(({ id }) => id)).toEqual(['p-3']);
  });

  test.each<[names: string[], claim: readonly string[] | undefined, isOffered: boolean]>([
    [['family', 'birthdate'], ['name'], true],
    [['phone', 'family'], ['phone'], true],
    [['phone', 'family', 'birthdate'], undefined, true],
    [['birthdate'], undefined, false],
  ])('on a server with the parameters %j is claimed by %j', async (names, claim, isOffered) => {
    const { connector } = await open({}, { habits: { searches: { Patient: [...names, '_sort', '_count'] } } });
    expect(connector.capabilities.patientSearchBy).toEqual(claim);
    expect(connector.searchPatients !== undefined).toBe(isOffered);
  });

  test.each([
    '+46701740602',
    '0701740602',
    '070-174 06 02',
    '+46 70-174 06 02',
    '+46 (0)70 174 06 02',
    '0046701740602',
  ])('by phone number finds a person whose number is written %s', async (value) => {
    const { server, connector, change } = await open();
    change('p-3', { telecom: [{ system: 'phone', use: 'mobile', value }] });
    change('p-4', { telecom: [{ system: 'phone', use: 'mobile', value: '0701740603' }] });
    const search = { phone: '+46701740602', limit: 10 };
    expect((await connector.searchPatients?.(search))?.map(({ id }) => id)).toEqual(['p-3']);
    const oneByOne = await openConnector(settingsFor(server.url, { identifier_lists: false }));
    expect((await oneByOne.searchPatients?.(search))?.map(({ id }) => id)).toEqual(['p-3']);
  });
});
