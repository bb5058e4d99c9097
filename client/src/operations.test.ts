import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { CareUnitClient, CrosswardClient } from './client.ts';
import { clientWithReplies, json } from './test-gateway.ts';
import type { OperationId } from './types.ts';

interface Documented {
  readonly operationId: OperationId;
  readonly responses: Record<string, { readonly content?: Record<string, { readonly example?: unknown }> }>;
}
interface Description {
  readonly paths: Record<string, Record<string, Documented>>;
}
const { paths } = JSON.parse(
  readFileSync(new URL('../../server/openapi.json', import.meta.url), 'utf8'),
) as Description;
/** The client gets tokens by itself. */
delete paths['/api/oauth/token'];
const documented = Object.entries(paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId, responses }]) => ({
    operationId,
    route: `${method.toUpperCase()} ${path}`,
    example: Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .flatMap(([, { content }]) => Object.values(content ?? {}))
      .find(({ example }) => example !== undefined)?.example,
  })),
);

const range = { start: '2030-03-15T09:00:00', end: '2030-03-15T12:00:00' };
const creation = {
  patient_id: 'p-3',
  resource_id: 'r-1',
  healthcare_service_id: 'consultation',
  start_time: range.start,
  end_time: range.end,
};

/** The methods of each operation. */
const calls: Record<OperationId, (unit: CareUnitClient, client: CrosswardClient) => readonly Promise<unknown>[]> = {
  list_emrs: (_, { emrs }) => [emrs.list().all()],
  get_emr: (_, { emrs }) => [emrs.get('sandbox-no')],
  list_care_units: (_, { careUnits }) => [careUnits('sandbox-no').list().all()],
  get_care_unit: (_, { careUnits }) => [careUnits('sandbox-no').get('oslo-sentrum')],
  list_events: (_, { events }) => [events.read({ limit: 10 })],
  list_webhook_endpoints: (_, { webhookEndpoints }) => [webhookEndpoints.list().all()],
  create_webhook_endpoint: (_, { webhookEndpoints }) => [
    webhookEndpoints.create({ url: 'https://hooks.clinic.example' }),
  ],
  get_webhook_endpoint: (_, { webhookEndpoints }) => [webhookEndpoints.get('e-1')],
  change_webhook_endpoint: (_, { webhookEndpoints }) => [webhookEndpoints.change('e-1', { status: 'disabled' })],
  delete_webhook_endpoint: (_, { webhookEndpoints }) => [webhookEndpoints.delete('e-1')],
  rotate_webhook_secret: (_, { webhookEndpoints }) => [webhookEndpoints.rotateSecret('e-1')],
  test_webhook_endpoint: (_, { webhookEndpoints }) => [webhookEndpoints.test('e-1')],
  replay_events: (_, { webhookEndpoints }) => [webhookEndpoints.replay('e-1', new Date())],
  list_webhook_deliveries: (_, { webhookEndpoints }) => [webhookEndpoints.deliveries('e-1').all()],
  redeliver_event: (_, { webhookEndpoints }) => [webhookEndpoints.redeliver('e-1', 'd-1')],
  get_patient: ({ patients }) => [patients.get('p-3')],
  list_accesses: ({ patients }) => [patients.accesses('p-3').all()],
  list_resources: ({ resources }) => [resources.list().all()],
  get_resource: ({ resources }) => [resources.get('r-1')],
  list_healthcare_services: ({ healthcareServices }) => [healthcareServices.list().all()],
  list_services: (_, { services }) => [services.list()],
  list_timeslots: ({ timeSlots }) => [timeSlots.list(range).all()],
  search_timeslots: (_, { timeSlots }) => [timeSlots.search(range).all()],
  list_timeslot_watches: (_, { timeSlotWatches }) => [timeSlotWatches.list().all()],
  create_timeslot_watch: (_, { timeSlotWatches }) => [timeSlotWatches.create({ search: range, until: range.end })],
  get_timeslot_watch: (_, { timeSlotWatches }) => [timeSlotWatches.get('w-1')],
  delete_timeslot_watch: (_, { timeSlotWatches }) => [timeSlotWatches.delete('w-1')],
  list_appointments: ({ appointments }) => [appointments.list(range).all()],
  get_appointment: ({ appointments }) => [appointments.get('a-1')],
  create_appointment: ({ appointments }) => [appointments.create(creation), appointments.previewCreate(creation)],
  change_appointment: ({ appointments }) => [
    appointments.update('a-1', range),
    appointments.previewUpdate('a-1', range),
    appointments.cancel('a-1'),
    appointments.previewCancel('a-1'),
    appointments.confirm('a-1', '123456'),
  ],
  change_appointments: ({ appointments }) => [
    appointments.updateMany(['a-1', 'a-2'], range),
    appointments.previewUpdateMany(['a-1', 'a-2'], range),
    appointments.cancelMany(['a-1', 'a-2']),
    appointments.previewCancelMany(['a-1', 'a-2']),
    appointments.confirmMany(['a-1', 'a-2'], '123456'),
  ],
  search_patients: ({ patients }) => [patients.search({ phone: '+4700000003' })],
  create_patient: ({ patients }) => [
    patients.findOrCreate({
      identifier: 'no_personal_number:15859000107',
      given_name: 'Ny',
      family_name: 'Prøvestad',
      birth_date: '1990-05-15',
    }),
  ],
  list_medical_notes: ({ medicalNotes }) => [medicalNotes.list('p-3').all()],
  get_medical_note: ({ medicalNotes }) => [medicalNotes.get('p-3', 'n-1')],
  create_medical_note: ({ medicalNotes }) => [medicalNotes.create('p-3', { text: 'Healed.' })],
  list_documents: ({ documents }) => [documents.list('p-3').all()],
  get_document: ({ documents }) => [documents.get('p-3', 'd-1')],
  get_document_content: ({ documents }) => [documents.content('p-3', 'd-1')],
  create_document: ({ documents }) => [documents.create('p-3', { content: new Blob(['See referral']) })],
  list_schedules: ({ schedules }) => [schedules.list('r-1').all()],
  get_schedule: ({ schedules }) => [schedules.get('r-1', 's-1')],
  create_schedule: ({ schedules }) => [
    schedules.create('r-1', {
      start_time: range.start,
      end_time: range.end,
      slot_minutes: 30,
      healthcare_service_ids: ['consultation'],
    }),
  ],
  end_schedule: ({ schedules }) => [schedules.end('r-1', 's-1', { end_time: range.end })],
  add_schedule_exception: ({ schedules }) => [
    schedules.addException('r-1', 's-1', { start_time: range.start, end_time: range.end }),
  ],
  resend_confirmation: ({ appointments }) => [appointments.resendCode('a-1')],
};

test('the list has every operation of the OpenAPI description', () => {
  expect(Object.keys(calls).sort()).toEqual(documented.map(({ operationId }) => operationId).sort());
});

test.each(documented)('$operationId has methods that send $route', async ({ operationId, route, example }) => {
  const { client, unit, requests } = clientWithReplies([
    example === undefined ? new Response(null, { status: 204 }) : json(example),
  ]);
  await Promise.all(calls[operationId](unit, client));

  expect(requests.length).toBeGreaterThan(0);
  const [method = '', path = ''] = route.split(' ');
  const pattern = new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`);
  for (const request of requests) {
    expect(request.method).toBe(method);
    expect(request.url.pathname).toMatch(pattern);
  }
});

test('a method whose name begins with "preview" is a dry run, and no other is', async () => {
  const { unit, requests } = clientWithReplies([json({ appointments: [] })]);
  const { appointments } = unit;
  await Promise.all([
    appointments.previewCreate(creation),
    appointments.previewUpdate('a-1', range),
    appointments.previewCancel('a-1'),
    appointments.previewUpdateMany(['a-1'], range),
    appointments.previewCancelMany(['a-1']),
  ]);
  expect(requests.map(({ url }) => url.searchParams.get('dry_run'))).toEqual(Array(5).fill('true'));
  await appointments.create(creation);
  expect(requests.at(-1)?.url.search).toBe('');
});
