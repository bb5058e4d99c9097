import { describe, expect, test } from 'vitest';
import type { AppointmentChange, Connector, ConnectorOperation } from './connector.ts';
import { ConnectorError } from './errors.ts';
import type { CompleteAppointment, Patient } from './records.ts';
import { withRightAnswers } from './right-answers.ts';

const careUnit = { id: 'unit', timeZone: 'Europe/Oslo' };
const patient: Patient = {
  id: 'p-3',
  identifiers: [
    { type: 'emr_id', value: 'p-3' },
    { type: 'nhs_number', value: '9990000018' },
  ],
  givenName: null,
  familyName: null,
  birthDate: null,
  gender: null,
  phone: null,
  email: null,
  address: null,
};
const appointment: CompleteAppointment = {
  id: 'a-1',
  state: 'booked',
  heldUntil: null,
  start: new Date('2030-01-01T08:00:00Z'),
  end: new Date('2030-01-01T08:30:00Z'),
  comment: null,
  patientId: 'p-3',
  resourceId: 'r-1',
  healthcareServiceId: 's-1',
  careUnitId: 'unit',
};
const creation: AppointmentChange = { ...appointment, kind: 'create', holdUntil: null };
const write = { operationId: 'o-1', careUnit };
const note = { id: 'n-1', patientId: 'p-3' };
const schedule = { id: 'c-1', resourceId: 'r-1' };

/** An operation, what it is asked for, a right result and a wrong one. */
const cases: [ConnectorOperation, unknown[], right: unknown, wrong: unknown][] = [
  ['findPatient', [{ type: 'emr_id', value: 'p-3' }], patient, { ...patient, id: 'p-5' }],
  ['findPatient', [{ type: 'emr_id', value: '' }], null, { ...patient, id: '' }],
  ['findPatient', [{ type: 'nhs_number', value: '9990000018' }], patient, { ...patient, identifiers: [] }],
  [
    'findPatient',
    [{ type: 'emr_id', value: 'p-2' }],
    { ...patient, replaces: [{ type: 'emr_id', value: 'p-2' }] },
    { ...patient, replaces: [{ type: 'emr_id', value: 'p-1' }] },
  ],
  [
    'findResource',
    [careUnit, { type: 'hsa_id', value: 'SE-1' }],
    { id: 'r-1', identifiers: [{ type: 'hsa_id', value: 'SE-1' }] },
    { id: 'r-1', identifiers: [{ type: 'hsa_id', value: 'SE-2' }] },
  ],
  ['listTimeSlots', [{ careUnit, resourceIds: ['r-1'] }], [{ resourceId: 'r-1' }], [{ resourceId: 'r-2' }]],
  [
    'listTimeSlots',
    [{ careUnit, healthcareServiceIds: ['s-1'] }],
    [{ healthcareServiceId: 's-1' }],
    [{ healthcareServiceId: 's-2' }],
  ],
  ['findAppointments', [careUnit, ['a-1', 'a-2']], [appointment], [{ ...appointment, id: 'a-3' }]],
  ['findAppointments', [careUnit, ['a-1']], [], [{ ...appointment, careUnitId: 'other' }]],
  ['listAppointments', [{ careUnit, patientId: 'p-3' }], [appointment], [{ ...appointment, patientId: 'p-5' }]],
  ['listAppointments', [{ careUnit, resourceId: 'r-1' }], [appointment], [{ ...appointment, resourceId: 'r-2' }]],
  ['changeAppointments', [{ ...write, changes: [creation] }], [appointment], [{ ...appointment, patientId: 'p-5' }]],
  ['changeAppointments', [{ ...write, changes: [creation] }], [appointment], []],
  [
    'changeAppointments',
    [{ ...write, changes: [{ kind: 'cancel', appointmentId: 'a-1' }] }],
    [appointment],
    [{ ...appointment, id: 'a-2' }],
  ],
  ...(['MedicalNote', 'Document'] as const).flatMap((kind): typeof cases => [
    [`find${kind}`, [careUnit, 'p-3', 'n-1'], note, { ...note, id: 'n-2' }],
    [`find${kind}`, [careUnit, 'p-3', 'n-1'], null, { ...note, patientId: 'p-5' }],
    [`list${kind}s`, [{ careUnit, patientId: 'p-3' }], [note], [note, { ...note, patientId: 'p-5' }]],
    [`create${kind}`, [{ ...write, patientId: 'p-3' }], note, { ...note, patientId: 'p-5' }],
  ]),
  ['findSchedule', [careUnit, 'r-1', 'c-1'], schedule, { ...schedule, id: 'c-2' }],
  ['listSchedules', [{ careUnit, resourceId: 'r-1' }], [schedule], [{ ...schedule, resourceId: 'r-2' }]],
  ['createSchedule', [{ ...write, resourceId: 'r-1' }], schedule, { ...schedule, resourceId: 'r-2' }],
  ...(['endSchedule', 'addScheduleException'] as const).map((name): (typeof cases)[number] => [
    name,
    [{ ...write, resourceId: 'r-1', scheduleId: 'c-1' }],
    schedule,
    { ...schedule, id: 'c-2' },
  ]),
];

const writes = /^(change|create|end|add)/;

describe.each(cases)('%s', (name, input, right, wrong) => {
  function answering(result: unknown) {
    const connector = withRightAnswers({ [name]: async () => result } as unknown as Connector);
    return (connector[name] as (...all: unknown[]) => Promise<unknown>)(...input);
  }

  test('returns what was asked for', async () => {
    expect(await answering(right)).toBe(right);
  });

  test('throws for another record', async () => {
    const error = await answering(wrong).catch((it: unknown) => it);
    expect(error).toBeInstanceOf(ConnectorError);
    expect(error).toHaveProperty('kind', writes.test(name) ? 'outcome_unknown' : 'rejected');
    expect(error).toHaveProperty('message', expect.not.stringMatching(/[pan]-\d/));
  });
});

test('only a move gives a new id, and only in an EHR that claims it', async () => {
  const outcome = (movesToNewId: true | undefined, change: object, id: string) => {
    const answers = { capabilities: { movesToNewId }, changeAppointments: async () => [{ ...appointment, id }] };
    const changes = [{ kind: 'update', appointmentId: 'a-1', ...change }] as const;
    return withRightAnswers(answers as unknown as Connector)
      .changeAppointments?.({ ...write, changes })
      .then(
        ([made]) => made?.id,
        (error: ConnectorError) => error.kind,
      );
  };
  const { start, end } = appointment;
  for (const move of [{ time: { start, end } }, { resourceId: 'r-2' }]) {
    expect(await outcome(true, move, 'a-2')).toBe('a-2');
    expect(await outcome(true, move, 'a-1')).toBe('outcome_unknown');
    expect(await outcome(undefined, move, 'a-2')).toBe('outcome_unknown');
    expect(await outcome(undefined, move, 'a-1')).toBe('a-1');
  }
  expect(await outcome(true, { comment: 'x' }, 'a-1')).toBe('a-1');
  expect(await outcome(true, { comment: 'x' }, 'a-2')).toBe('outcome_unknown');
});

test('a connector keeps its other operations, and those of its class', async () => {
  class Plugin {
    capabilities = { changes: [] };
    async listResources() {
      return [];
    }
  }
  const connector = withRightAnswers(new Plugin() as unknown as Connector);
  expect(await connector.listResources?.(careUnit)).toEqual([]);
  expect(connector.capabilities).toEqual({ changes: [] });
  expect(connector).not.toHaveProperty('findPatient');
});
