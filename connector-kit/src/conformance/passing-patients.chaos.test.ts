import { afterAll, describe, expect, test } from 'vitest';
import type { Connector } from '../connector.ts';
import { type Defects, outcomeOf, withDefects } from './broken.test-support.ts';
import { passingSubject, patient } from './passing-subject.test-support.ts';
import { describeConformance } from './vitest.ts';

describeConformance('an EHR to which identifiers pass through', () => passingSubject());

describe('the kit catches a connector that', async () => {
  const subject = await passingSubject({ patientDetails: 'optional', slotsByPatient: 'optional' });
  afterAll(() => subject.close?.());

  test.each<[string, string, string, (right: Required<Connector>) => Defects]>([
    [
      'looks up patients, and says that their identifiers pass through',
      'unclaimed',
      'capabilities are consistent',
      () => ({ findPatient: async () => null }),
    ],
    [
      'takes other types than those that pass through',
      'unclaimed',
      'capabilities are consistent',
      ({ capabilities }) => ({
        capabilities: { ...capabilities, patientIdentifierTypes: ['emr_id', 'se_personal_number', 'nhs_number'] },
      }),
    ],
    [
      'returns the number without its type',
      'create',
      'books the requested patient, resource, service, time and comment',
      (right) => ({
        findAppointments: async (unit, ids) =>
          (await right.findAppointments(unit, ids)).map((it) => ({ ...it, patientId: patient[0].value })),
      }),
    ],
    [
      'fails for a number that it does not know',
      'appointments-read',
      'a patient of whom the EHR knows nothing has no appointments',
      (right) => ({
        async listAppointments(query) {
          const found = await right.listAppointments(query);
          if (found.length === 0) throw new Error('nobody');
          return found;
        },
      }),
    ],
    [
      'cannot book without a phone number',
      'create',
      'books with and without a phone number and an e-mail address of the patient',
      (right) => ({
        async changeAppointments(write) {
          for (const it of write.changes)
            if (it.kind === 'create' && !it.patientDetails?.phone) throw new Error('phone');
          return right.changeAppointments(write);
        },
      }),
    ],
    [
      'finds no slots without a patient, although it need not be one',
      'time-slots',
      'finds the slots of one patient, and slots of no patient where it need not be one',
      (right) => ({
        listTimeSlots: async (query) => (query.patientId === undefined ? [] : right.listTimeSlots(query)),
      }),
    ],
    [
      'finds no slots for a patient',
      'time-slots',
      'finds the slots of one patient, and slots of no patient where it need not be one',
      (right) => ({
        listTimeSlots: async (query) => (query.patientId === undefined ? right.listTimeSlots(query) : []),
      }),
    ],
    [
      'makes up a modality',
      'time-slots',
      'lists each slot once, ordered by start, resource and service',
      (right) => ({
        listTimeSlots: async (query) =>
          (await right.listTimeSlots(query)).map((it) => ({ ...it, modality: 'letter' as 'phone' })),
      }),
    ],
    [
      'repeats its notice in everything that is read',
      'create',
      'books the requested patient, resource, service, time and comment',
      (right) => ({
        findAppointments: async (unit, ids) =>
          (await right.findAppointments(unit, ids)).map((it) => ({ ...it, notice: 'Come fasting' })),
      }),
    ],
  ])('%s', async (_, capability, check, defects) => {
    expect(await outcomeOf(subject, capability, check)).toMatchObject({ outcome: 'passed' });
    const broken = await outcomeOf(withDefects(subject, defects), capability, check);
    expect(broken).toMatchObject({ outcome: 'failed', reason: expect.any(String) });
  });
});
