import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { sandboxSubject } from '../../../connectors/sandbox/test/conformance-subject.ts';
import { createTestDatabase } from '../../../test/database/database.ts';
import { type CompleteConnector, type Defects, outcomeOf, withDefects } from './broken.test-support.ts';
import { patientSearch } from './patient-registration.ts';

const { database, dispose } = await createTestDatabase();
const correct = await sandboxSubject('correct', database.pool);
afterAll(dispose);

const variants: [string, capability: string, check: string, (right: CompleteConnector) => Defects][] = [
  [
    'compares names exactly',
    'patient-search',
    'family name and birth date find a patient, in upper and lower case',
    (right) => ({
      searchPatients: async (search) =>
        (await right.searchPatients(search)).filter((it) => 'phone' in search || it.familyName === search.familyName),
    }),
  ],
  [
    'finds names that begin so',
    'patient-search',
    'a part of the name, or another birth date, finds nobody',
    (right) => ({
      searchPatients: async (search) =>
        'phone' in search ? right.searchPatients(search) : [await known(right)].flatMap((it) => it ?? []),
    }),
  ],
  [
    'ignores the phone number',
    'patient-search',
    'a phone number finds everybody who has it, and nobody else',
    (right) => ({
      searchPatients: async () => [await known(right), await known(right, 'p-2')].flatMap((it) => it ?? []),
    }),
  ],
  [
    'ignores the limit',
    'patient-search',
    'a search has at most as many patients as asked for',
    (right) => ({
      searchPatients: async () => [await known(right), await known(right, 'p-2')].flatMap((it) => it ?? []),
    }),
  ],
  [
    'forgets the address',
    'patient-creation',
    'a new patient is found by the number, exactly as created',
    (right) => ({ createPatient: (creation) => right.createPatient({ ...creation, address: null }) }),
  ],
  [
    'counts everybody as new',
    'patient-creation',
    'several calls at a time create one patient',
    (right) => ({ createPatient: async (creation) => ({ ...(await right.createPatient(creation)), isNew: true }) }),
  ],
  [
    'creates a patient for each call',
    'patient-creation',
    'several calls at a time create one patient',
    (right) => ({
      createPatient: async (creation) => {
        const { patient, isNew } = await right.createPatient(creation);
        return { patient: { ...patient, id: randomUUID() }, isNew };
      },
    }),
  ],
  [
    'counts a known patient as new',
    'patient-creation',
    'a patient whom the EHR has is not changed',
    (right) => ({ createPatient: async (creation) => ({ ...(await right.createPatient(creation)), isNew: true }) }),
  ],
  [
    'creates a patient whose number has another spelling again',
    'patient-creation',
    'a patient whose number has another spelling in the EHR is not created again',
    (right) => ({
      createPatient: async (creation) => {
        const { patient } = await right.createPatient(creation);
        return { patient: { ...patient, id: randomUUID() }, isNew: true };
      },
    }),
  ],
];

function known(right: CompleteConnector, value = 'p-1') {
  return right.findPatient({ type: 'emr_id', value });
}

test.each(variants)('a connector that %s fails', async (_, capability, check, defects) => {
  const { outcome } = await outcomeOf(withDefects(correct, defects), capability, check);
  expect(outcome).toBe('failed');
});

test.each(['name', 'phone'] as const)('a connector that can be searched by %s alone passes', async (key) => {
  const right = correct.connector as CompleteConnector;
  const subject = withDefects(correct, () => ({
    capabilities: { ...right.capabilities, patientSearchBy: [key] },
    searchPatients: async (search) => {
      if ('phone' in search !== (key === 'phone')) throw new Error('The EHR knows no such search');
      return right.searchPatients(search);
    },
  }));
  const outcomes = new Map<string, string>();
  for (const { name } of patientSearch.checks) {
    outcomes.set(name, (await outcomeOf(subject, 'patient-search', name)).outcome);
  }
  expect([...outcomes.values()]).not.toContain('failed');
  expect(outcomes.get('a phone number finds everybody who has it, and nobody else')).toBe(
    key === 'phone' ? 'passed' : 'not_claimed',
  );
  expect((await outcomeOf(subject, 'unclaimed', 'capabilities are consistent')).outcome).toBe('passed');
});

test('a claim of searches by nothing fails', async () => {
  const { capabilities } = correct.connector;
  const subject = withDefects(correct, () => ({ capabilities: { ...capabilities, patientSearchBy: [] } }));
  expect((await outcomeOf(subject, 'unclaimed', 'capabilities are consistent')).outcome).toBe('failed');
});
