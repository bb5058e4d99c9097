/** @module-tag any-database */
import type { Connector } from '@crossward/connector-kit';
import { afterAll, afterEach, expect, test } from 'vitest';
import { exampleRequest } from '../../../test/cases/access-cases.ts';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { type Problem, type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import {
  type Appointment,
  bookEach,
  consecutiveSlots,
  idsIn,
  oslo,
  type Slot,
} from '../../../test/requests/bookings.ts';
import { unfinishedOperations } from '../../../test/requests/codes.ts';
import type { Needs } from '../api/endpoint.ts';
import { ehrOperations } from './ehr-operations.ts';

type Missing = Needs[number];

/** What the EHRs do not support at the moment. */
let missing: Missing | undefined;

function withoutMissing(connector: Connector): Connector {
  return new Proxy(connector, {
    get(target, name) {
      if (name === (missing === 'patients' ? 'findPatient' : missing)) return undefined;
      if (name !== 'capabilities') return Reflect.get(target, name);
      const { capabilities } = target;
      return { ...capabilities, changes: capabilities.changes.filter((kind) => kind !== missing) };
    },
  });
}

const gateway = await startGateway({ connectors: [wrapConnector(withoutMissing)] });
afterAll(() => gateway.close());
afterEach(() => {
  missing = undefined;
});

const [first, second, third, fourth] = (await consecutiveSlots(gateway, 4)) as [Slot, Slot, Slot, Slot];
const [one, two] = (await bookEach(gateway, [first, second])) as [Appointment, Appointment];
const ids = { appointment_id: one.id, ...(await createOneOfEach()) };

/** Creates what the examples of the POST operations describe, and returns the ids by path parameter. */
async function createOneOfEach(): Promise<Record<string, string>> {
  const made: Record<string, string> = {};
  for (const name of ['medical_note', 'document', 'schedule']) {
    const operation = gateway.app.endpointDeps.endpoints.find(({ operationId }) => operationId === `create_${name}`);
    if (!operation) throw new Error(`No operation creates a ${name}`);
    const { method, path, options } = exampleRequest(operation);
    const { status, body, text } = await gateway.request<{ id: string }>(method, path, options);
    if (status !== 201) throw new Error(`Creating a ${name} failed: ${text}`);
    made[`${name}_id`] = body.id;
  }
  return made;
}

/** A request that needs what is missing. */
function requestFor(name: string, missingPart: Missing): readonly [string, string, RequestOptions] {
  const appointment = `${oslo}/appointments/${one.id}`;
  const reschedule = (slots: readonly Slot[], ...appointments: Appointment[]) => {
    const range = { start: slots[0]?.start, end: slots.at(-1)?.end };
    return ['PATCH', `${oslo}/appointments`, { body: { ids: idsIn(appointments), ...range } }] as const;
  };
  if (name === 'update_appointment') return ['PATCH', appointment, { body: { comment: 'new' } }];
  if (name === 'cancel_appointment') return ['PATCH', appointment, { body: { status: 'cancelled' } }];
  if (name === 'reschedule_appointments') {
    if (missingPart === 'create') return reschedule([first, second, third], one, two);
    return missingPart === 'cancel' ? reschedule([first], one, two) : reschedule([third, fourth], one, two);
  }
  const operation = gateway.app.endpointDeps.endpoints.find(({ operationId }) => operationId === name);
  if (!operation) throw new Error(`There is no operation ${name}`);
  const { method, path, options } = exampleRequest(operation, ids);
  return [method, path, options];
}

const named = ehrOperations(gateway.app.endpointDeps.endpoints);
const cases = [...named].flatMap(([name, needs]) => needs.map((part) => [name, part] as const));

test.each(cases)('%s is unsupported and not listed if the EHR has no %s', async (name, part) => {
  const listed = async () => {
    const { body } = await gateway.request<{ capabilities: { operations: string[] } }>('GET', '/api/emrs/sandbox-no');
    return body.capabilities.operations;
  };
  expect(await listed()).toContain(name);
  missing = part;
  expect(await listed()).not.toContain(name);
  const [method, path, options] = requestFor(name, part);
  const { status, body } = await gateway.request<Problem>(method, path, options);
  expect({ status, reason: body.reason, detail: body.detail }).toMatchObject({
    status: 501,
    reason: 'operation_unsupported',
  });
  expect(await unfinishedOperations(gateway)).toEqual([]);
  // Nothing has failed.
  const lines = gateway.logLines.map((line): { readonly level: number; readonly msg: string } => JSON.parse(line));
  expect(lines.filter(({ msg, level }) => msg === 'request failed' || level >= 50)).toEqual([]);
});

test('every operation of a care unit depends on what the EHR supports', () => {
  const all = gateway.app.endpointDeps.endpoints.filter(({ level }) => level === 'care_unit');
  const without = all.filter(({ needs, parts }) => !(needs ?? parts)).map(({ operationId }) => operationId);
  expect(without).toEqual(['get_care_unit', 'resend_confirmation']);
});
