import { expect, onTestFinished, test } from 'vitest';
import { startFake } from '../../../connectors/fhir-r4/fake/server.ts';
import { fhirSubject, settingsFor } from '../../../connectors/fhir-r4/test/subject.ts';
import type { Appointment } from '../records.ts';
import { type CompleteConnector, type Defects, outcomeOf, withDefects } from './broken.test-support.ts';
import type { Subject } from './subject.ts';

async function correct(): Promise<Subject> {
  const fake = await startFake({ data: { days: 4 } });
  onTestFinished(() => fake.close());
  return fhirSubject('correct', settingsFor(fake.url), fake.close, { store: fake.store, isAlone: true });
}

type Variant = [name: string, capability: string, check: string, defects: Defective, reason: string];
type Defective = (right: CompleteConnector, subject: Subject) => Defects;

const one = 'an appointment that cannot be read is not gone when it is read alone';
const hidden = 'an appointment that cannot be read hides no other, and is counted';
const patient = 'a patient who cannot be read is not unknown';
const slot = 'a time slot that cannot be read hides no other, and is counted';
const foreignPatient = 'a patient of another server is not the local one with the same id';
const foreignResource = 'a resource of another server is not the local one with the same id';
const replaced = 'a patient replaced by one of another server is not booked, nor the local one with that id';

/** Lists nothing while a record is left out. */
function hiding<Input, Item>(list: (query: Input) => Promise<readonly Item[]>, { oddRecords }: Subject) {
  return async (query: Input): Promise<readonly Item[]> => {
    const before = oddRecords?.leftOut.length;
    const found = await list(query);
    return oddRecords?.leftOut.length === before ? found : [];
  };
}

/** Finds an appointment as it was when it was booked. */
function remembering(right: CompleteConnector): Defects {
  const made = new Map<string, Appointment>();
  return {
    async changeAppointments(write) {
      const done = await right.changeAppointments(write);
      for (const it of done) made.set(it.id, it);
      return done;
    },
    findAppointments: async (_, ids) => ids.flatMap((id) => made.get(id) ?? []),
  };
}

const variants: readonly Variant[] = [
  [
    'throws a TypeError for a record',
    'unreadable-records',
    one,
    (right) => ({
      findAppointments: (unit, ids) =>
        right.findAppointments(unit, ids).catch(() => {
          throw new TypeError('participant.find is not a function');
        }),
    }),
    'TypeError',
  ],
  [
    'takes an appointment that it cannot read for one that is gone',
    'unreadable-records',
    one,
    (right) => ({ findAppointments: (unit, ids) => right.findAppointments(unit, ids).catch(() => []) }),
    'but it succeeded',
  ],
  [
    'hides a list behind one appointment',
    'unreadable-records',
    hidden,
    (right, subject) => ({ listAppointments: hiding(right.listAppointments, subject) }),
    'not listed beside one that cannot be read',
  ],
  [
    'takes a patient whom it cannot read for nobody',
    'unreadable-records',
    patient,
    (right) => ({ findPatient: (identifier) => right.findPatient(identifier).catch(() => null) }),
    'but it succeeded',
  ],
  [
    'hides free times behind one slot',
    'unreadable-records',
    slot,
    (right, subject) => ({ listTimeSlots: hiding(right.listTimeSlots, subject) }),
    'not listed beside one that cannot be read',
  ],
  [
    'takes the patient of another server for the local one',
    'references',
    foreignPatient,
    remembering,
    'patient of another server is taken for the local one',
  ],
  [
    'takes the resource of another server for the local one',
    'references',
    foreignResource,
    remembering,
    'resource of another server is taken for the local one',
  ],
  [
    'follows a replacement to the local patient with the same id',
    'references',
    replaced,
    (right, { facts }) => ({
      findPatient: () => right.findPatient({ type: 'emr_id', value: facts.otherPatientId ?? '' }),
    }),
    'not what was asked for',
  ],
  [
    'books a patient who has been replaced',
    'references',
    replaced,
    (right) => ({
      async findPatient(identifier) {
        const found = await right.findPatient(identifier);
        if (!found) return null;
        const { isInactive: _, ...booked } = found;
        return booked;
      },
    }),
    'can be booked who has been replaced',
  ],
];

test.each([
  ['unreadable-records', hidden],
  ['unreadable-records', one],
  ['unreadable-records', patient],
  ['unreadable-records', slot],
  ['references', foreignPatient],
  ['references', foreignResource],
  ['references', replaced],
])('a right connector passes %s: %s', async (capability, check) => {
  expect(await outcomeOf(await correct(), capability, check)).toMatchObject({ outcome: 'passed' });
});

test.each(variants)('the kit catches a connector that %s', async (_, capability, check, defects, reason) => {
  const subject = await correct();
  const result = await outcomeOf(
    withDefects(subject, (right) => defects(right, subject)),
    capability,
    check,
  );
  expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining(reason) });
});

test('the kit catches a connector that leaves out without counting', async () => {
  const subject = await correct();
  const uncounted: Subject = Object.create(subject, { oddRecords: { value: { ...subject.oddRecords, leftOut: [] } } });
  for (const check of [hidden, slot]) {
    const result = await outcomeOf(uncounted, 'unreadable-records', check);
    expect(result).toMatchObject({ outcome: 'failed', reason: expect.stringContaining('without a call of leftOut') });
  }
});

test('an EHR that cannot have such records is not checked, with the reason', async () => {
  const { oddRecords: _, ...plain } = await correct();
  expect(await outcomeOf(plain, 'references', foreignPatient)).toMatchObject({
    outcome: 'not_checked',
    reason: 'no appointment of another server’s patient can be put into the EHR',
  });
});
