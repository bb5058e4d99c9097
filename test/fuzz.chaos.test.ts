import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { startGateway } from './gateway/gateway.ts';
import { book, creationBody, freeSlots, type Slot } from './requests/bookings.ts';

const gateway = await startGateway({ databaseKind: 'postgresql' });
afterAll(() => gateway.close());

const slots = (await freeSlots(gateway)) as [Slot, ...Slot[]];
const appointment = await book(gateway, { slot: slots[0] });

const emrs = ['sandbox-no', 'sandbox-no', 'sandbox-se', 'sandbox-uk'];
const careUnits = ['oslo-sentrum', 'oslo-sentrum', 'oslo-sentrum', 'sodermalm', 'riverside', 'bergen-nord'];
const identifiers = [
  'p-1',
  'emr_id:p-2',
  'no_personal_number:15859000026',
  'se_personal_number:191212121212',
  'nhs_number:9990000018',
  'r-1',
  'r-5',
  'r-6',
  'hsa_id:SE0000000000-1001',
  'header:x-it',
  'header:',
  'header:host',
  ':',
  'emr_id:',
  'emr_id::',
];
const times = slots.slice(0, 6).flatMap(({ start, end }) => [start, end, start.slice(0, 19), end.slice(0, 19)]);
const oddTexts = [
  '',
  ' ',
  '%',
  '%00',
  '\0',
  '../..',
  '__proto__',
  'null',
  '[]',
  '-1',
  '1e309',
  '\ud800',
  'ﷺ',
  'İ',
  '2024-02-30',
  '0000-00-00T00:00:00',
  '2200-12-31T23:59:59Z',
];

const text = fc.oneof(
  fc.constantFrom(
    ...identifiers,
    ...times,
    ...oddTexts,
    appointment.id,
    'consultation',
    'vaccination',
    'cancelled',
    'booked',
  ),
  fc.string({ unit: 'binary', maxLength: 30 }),
  fc.string({ maxLength: 300 }),
);
const value = fc.oneof({ weight: 5, arbitrary: text }, { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) });
const time = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...times) }, { weight: 1, arbitrary: value });
const identifier = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...identifiers) }, { weight: 1, arbitrary: value });

const fields = fc.record(
  {
    patient_id: identifier,
    resource_id: identifier,
    healthcare_service_id: fc.oneof(fc.constantFrom('consultation', 'vaccination'), value),
    start_time: time,
    end_time: time,
    start: time,
    end: time,
    comment: value,
    status: fc.oneof(fc.constant('cancelled'), value),
    confirmation: value,
  },
  { requiredKeys: [] },
);
const creation = fc.record({
  patient_id: identifier,
  resource_id: identifier,
  healthcare_service_id: fc.constantFrom('consultation', 'vaccination'),
  start_time: time,
  end_time: time,
});
const bookable = fc
  .tuple(fc.constantFrom(...slots), fc.constantFrom('r-1', 'r-2', 'r-3', 'r-4'))
  .map(([slot, resource]) => ({
    ...creationBody(slot),
    resource_id: resource,
  }));
const body = fc.oneof(
  bookable,
  creation,
  fields,
  fc.jsonValue(),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)),
);

const queryNames = [
  'patient_id',
  'resource_id',
  'start',
  'end',
  'status',
  'limit',
  'cursor',
  'healthcare_service_id',
  'other',
];
const parameter = fc.tuple(
  fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...queryNames) }, text),
  fc.oneof(text, fc.constantFrom(...times, '5', '500')),
);
const header = fc.oneof(
  fc.constantFrom(...identifiers, ...times),
  fc.string({ unit: 'binary-ascii', maxLength: 40 }).map((it) => it.replaceAll(/[^\x20-\x7e]/g, '')),
  fc.string({ unit: 'grapheme', maxLength: 20 }).map((it) =>
    Buffer.from(it)
      .toString('latin1')
      .replaceAll(/[^\x20-\x7e\x80-\xff]/g, ''),
  ),
);

const operations = gateway.app.endpointDeps.endpoints;
const writes = operations.filter(({ method }) => method !== 'GET');

const request = fc.record({
  operation: fc.constantFrom(...operations, ...writes, ...writes, ...writes),
  emr: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...emrs) }, text),
  careUnit: fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...careUnits) }, text),
  id: fc.oneof(fc.constant(appointment.id), text),
  query: fc.oneof(fc.constant<[string, string][]>([]), fc.array(parameter, { maxLength: 5 })),
  body,
  headers: fc.record(
    {
      'x-it': header,
      'x-request-id': header,
      'x-service-standard': fc.constantFrom('native', 'native', 'native', 'native', 'fhir-r4'),
    },
    { requiredKeys: [] },
  ),
});

const prefixes = { client: '/api', emr: '/api/emrs/:emr', care_unit: '/api/emrs/:emr/care-units/:care_unit_id' };

test('random requests never cause an internal error, and every response is as documented', async () => {
  const statuses = new Map<number, number>();
  await fc.assert(
    fc.asyncProperty(request, async ({ operation, emr, careUnit, id, query, body: sent, headers }) => {
      const params: Record<string, string> = { emr, care_unit_id: careUnit };
      const filled = `${prefixes[operation.level]}${operation.path}`.replaceAll(/:([a-z_]+)/g, (_, name) =>
        encoded(params[name] ?? id),
      );
      const search = query.map(([name, it]) => `${encoded(name)}=${encoded(it)}`).join('&');
      const hasBody = operation.method !== 'GET';
      const { status } = await gateway.request(operation.method, search ? `${filled}?${search}` : filled, {
        headers,
        ...(hasBody ? { body: sent === undefined ? 'null' : sent } : {}),
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      expect(status < 500 || status === 501 || status === 503).toBe(true);
    }),
    { numRuns: 3000 },
  );
  // Some requests pass validation and succeed.
  expect([...statuses.keys()]).toEqual(expect.arrayContaining([200, 201, 400, 404]));
}, 600_000);

/** Percent-encoded UTF-8. A lone surrogate is encoded as three bytes. */
function encoded(it: string): string {
  return it.isWellFormed() ? encodeURIComponent(it) : '%ed%a0%80';
}
