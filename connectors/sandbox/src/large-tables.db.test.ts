import type { Connector } from '@crossward/connector-kit';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createTestDatabase } from '../../../test/database/database.ts';
import { observeStatements } from '../../../test/database/statements.ts';
import { sandboxSubject } from '../test/conformance-subject.ts';

const { database, dispose } = await createTestDatabase();
afterAll(dispose);
const { careUnit, ...subject } = await sandboxSubject('sandbox', database.pool);
const { findAppointments, listAppointmentChanges, listAppointments, listTimeSlots } =
  subject.connector as Required<Connector>;

/** A hundred thousand past appointments of 5,000 patients, with four resources. The constraint would take most of the time. */
const past = [
  'ALTER TABLE sandbox.appointments DROP CONSTRAINT appointments_no_overlap',
  `INSERT INTO sandbox.appointments
     (emr, id, care_unit_id, patient_id, resource_id, healthcare_service_id, starts_at, ends_at, state)
   SELECT 'conformance', 'past-' || n, '${careUnit.id}', 'p-' || n % 5000, 'r-' || 1 + n % 4, 'consultation',
     at, at + interval '15 minutes', 'booked'
   FROM generate_series(1, 100000) n,
     LATERAL (SELECT date_trunc('day', now()) - (n / 4) * interval '15 minutes' AS at) past`,
  'ANALYZE sandbox.appointments',
];

beforeAll(async () => {
  const client = await database.pool.connect();
  for (const text of past) await client.query(text);
  client.release();
});

const day = 24 * 60 * 60 * 1000;
const inDays = (days: number) => new Date(Date.now() + days * day);
const lastMonth = { start: inDays(-30), end: inDays(-23) };
const ahead = { careUnit, start: inDays(1), limit: 101 };
const after = { start: inDays(-40), id: 'past-1' };

test.each<[string, string, string, () => Promise<readonly unknown[]>]>([
  ['appointments by id', 'pkey', 'id', () => findAppointments(careUnit, ['past-1', 'past-50000'])],
  [
    'appointments of a patient',
    'of_a_patient',
    'patient_id',
    () => listAppointments({ careUnit, patientId: 'p-3', limit: 101 }),
  ],
  [
    'the next page of a patient',
    'of_a_patient',
    'patient_id',
    () => listAppointments({ careUnit, patientId: 'p-3', states: ['booked'], after, limit: 101 }),
  ],
  [
    'changes since an earlier reading',
    'by_change',
    'changed_by',
    async () => (await listAppointmentChanges({ careUnits: [careUnit], after: '1 ', limit: 101 })).changes,
  ],
  [
    'appointments of a resource in a week',
    'of_a_resource',
    'starts_at',
    () => listAppointments({ careUnit, resourceId: 'r-1', range: lastMonth, limit: 101 }),
  ],
  [
    'appointments of a care unit in a week',
    'of_a_care_unit',
    'starts_at',
    () => listAppointments({ careUnit, range: lastMonth, limit: 101 }),
  ],
  [
    'the next page of a resource',
    'of_a_resource',
    'starts_at',
    () => listAppointments({ careUnit, resourceId: 'r-1', after, limit: 101 }),
  ],
  [
    'time slots of a resource in two weeks',
    'of_a_resource',
    'starts_at',
    () => listTimeSlots({ ...ahead, end: inDays(15), resourceIds: ['r-1'] }),
  ],
  [
    'time slots of a care unit in 92 days',
    'of_a_(resource|care_unit)',
    'starts_at',
    () => listTimeSlots({ ...ahead, end: inDays(92) }),
  ],
])('%s are read through the index %s by %s', async (_, index, column, read) => {
  // Open transactions of other tests on the same server hold changes back.
  await vi.waitFor(async () => expect((await read()).length).toBeGreaterThan(0), 120_000);
  const statements = await observeStatements(database.pool, read);
  const [statement, ...more] = statements.filter(({ text }) => /sandbox"?\."?appointments/.test(text));
  expect(more).toEqual([]);
  const { text, values } = statement ?? { text: '', values: [] };
  // With these values, and as a prepared statement is planned for any values.
  for (const plan of [await planOf(text, values), await planOf(text)]) {
    const scans = nodesOf(plan).filter((node) => node['Relation Name'] === 'appointments' || 'Index Name' in node);
    expect(scans).toContainEqual(
      expect.objectContaining({
        'Index Name': expect.stringMatching(`^appointments_${index}$`),
        'Index Cond': expect.stringMatching(`\\b${column}\\b`),
      }),
    );
    expect(scans.map((node) => node['Node Type'])).not.toContain('Seq Scan');
  }
});

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Index Name'?: string;
  readonly 'Index Cond'?: string;
  readonly Plans?: readonly PlanNode[];
}

/** @param values absent: the plan for any values */
async function planOf(text: string, values?: readonly unknown[]): Promise<PlanNode> {
  const client = await database.pool.connect();
  try {
    const explain = `EXPLAIN (${values ? '' : 'GENERIC_PLAN, '}FORMAT JSON) ${text}`;
    const { rows } = await client.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(explain, values);
    if (!rows[0]) throw new Error('There is no plan');
    return rows[0]['QUERY PLAN'][0].Plan;
  } finally {
    client.release();
  }
}

function nodesOf(node: PlanNode): readonly PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)];
}
