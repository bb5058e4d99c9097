import type { MedicalNote } from '@crossward/connector-kit';
import { expect, onTestFinished, test } from 'vitest';
import type { FakeNote } from '../fake/care-documentation.ts';
import { north, patients, south } from '../fake/data-set.ts';
import { startFake } from '../fake/server.ts';
import { careUnit, idOf, openConnector } from './subject.ts';

const patientId = idOf(patients.first);
const note: FakeNote = {
  documentId: 'd-1',
  subject: patients.first,
  time: '20260105081500',
  title: 'Besöksanteckning',
  text: 'Ont i knät & huvudet.',
  author: 'SE2321000000-P001',
  careUnit: north.hsaId,
  approved: true,
};

async function withNotes(notes: readonly FakeNote[], not_approved?: 'hide' | 'show') {
  const fake = await startFake({ days: 1 });
  onTestFinished(fake.close);
  fake.notes.push(...notes);
  const logical_address = 'SE2321000000-AGGR';
  const settings = { notes: { url: fake.notesUrl, logical_address, ...(not_approved && { not_approved }) } };
  return openConnector(fake, { settings });
}

const ids = (notes: readonly MedicalNote[] = []) => notes.map(({ id }) => id.split('/')[1]);

test('reads journal notes, newest first', async () => {
  const connector = await withNotes([note, { ...note, documentId: 'd-2', time: '20260705081500' }]);
  const found = await connector.listMedicalNotes?.({ careUnit, patientId, limit: 10 });
  expect(ids(found)).toEqual(['d-2', 'd-1']);
  const first = found?.[1];
  expect(first).toEqual({
    id: 'SE2321000000-SRC/d-1',
    patientId,
    createdAt: new Date('2026-01-05T07:15:00Z'),
    authorId: 'SE2321000000-P001',
    title: 'Besöksanteckning',
    text: 'Ont i knät & huvudet.',
    appointmentId: null,
  });
  expect(await connector.findMedicalNote?.(careUnit, patientId, first?.id ?? '')).toEqual(first);
  expect(await connector.findMedicalNote?.(careUnit, idOf(patients.second), first?.id ?? '')).toBeNull();
  expect(connector).not.toHaveProperty('createMedicalNote');
});

test.each<['hide' | 'show' | undefined, string[]]>([
  [undefined, ['d-1']],
  ['hide', ['d-1']],
  ['show', ['d-2', 'd-1']],
])('notes that are not approved for the patient, with the setting %s', async (setting, expected) => {
  const connector = await withNotes([note, { ...note, documentId: 'd-2', approved: false }], setting);
  expect(ids(await connector.listMedicalNotes?.({ careUnit, patientId, limit: 10 }))).toEqual(expected);
});

test('leaves out what is nullified, of another unit, or a picture alone', async () => {
  const { text: _, ...withoutText } = note;
  const connector = await withNotes([
    { ...note, documentId: 'd-2', nullified: true },
    { ...note, documentId: 'd-3', careUnit: south.hsaId },
    { ...withoutText, documentId: 'd-4', picture: 'iVBORw0KGgo=' },
    note,
  ]);
  expect(ids(await connector.listMedicalNotes?.({ careUnit, patientId, limit: 10 }))).toEqual(['d-1']);
});

test('filters and pages', async () => {
  const notes = [1, 2, 3].map((day) => ({ ...note, documentId: `d-${day}`, time: `2026010${day}080000` }));
  const connector = await withNotes([...notes, { ...notes[2], documentId: 'd-0' } as FakeNote]);
  const list = (query: object) => connector.listMedicalNotes?.({ careUnit, patientId, limit: 10, ...query });
  expect(ids(await list({}))).toEqual(['d-3', 'd-0', 'd-2', 'd-1']);
  expect(ids(await list({ limit: 1 }))).toEqual(['d-3']);
  const [first] = (await list({ limit: 1 })) ?? [];
  expect(ids(await list({ after: first, limit: 2 }))).toEqual(['d-0', 'd-2']);
  expect(ids(await list({ start: new Date('2026-01-02T07:00:00Z'), end: new Date('2026-01-03T07:00:00Z') }))).toEqual([
    'd-2',
  ]);
  expect(ids(await list({ authorId: 'SE2321000000-P009' }))).toEqual([]);
});

const stockholm = '1.2.752.97.3.1.3';
test.each([
  ['a personal number', '191212121212', '1.2.752.129.2.1.3.1'],
  ['a coordination number', '197010632391', '1.2.752.129.2.1.3.3'],
  ['a coordination number without a known day', '197010602399', '1.2.752.129.2.1.3.3'],
  ['a reserve number of Stockholm', '991981000010', stockholm],
  ['a reserve number of Carelink', '198108320014', stockholm],
  ['a reserve number with a letter', '19640823T323', stockholm],
])('asks by the OID of %s', async (_, subject, oid) => {
  const fake = await startFake({ days: 1 });
  onTestFinished(fake.close);
  fake.notes.push({ ...note, subject });
  const notes = { url: fake.notesUrl, logical_address: 'SE2321000000-AGGR', reserve_number_oid: stockholm };
  const connector = await openConnector(fake, { settings: { notes } });
  const found = await connector.listMedicalNotes?.({ careUnit, patientId: idOf(subject), limit: 10 });
  expect(ids(found)).toEqual(['d-1']);
  expect(fake.log.at(-1)?.request).toContain(`>${oid}<`);
});

test('does not ask by a reserve number whose OID is not known', async () => {
  const connector = await withNotes([]);
  const asked = connector.listMedicalNotes?.({ careUnit, patientId: idOf('19640823T323'), limit: 10 });
  await expect(asked).rejects.toMatchObject({ kind: 'unsupported' });
});
