/** @module-tag any-database */
import { afterAll, expect, test } from 'vitest';
import { exampleRequest } from '../../../test/cases/access-cases.ts';
import { wrapConnector } from '../../../test/ehrs/other-ehrs.ts';
import { type Problem, type RequestOptions, startGateway } from '../../../test/gateway/gateway.ts';
import type { AnyEndpoint } from './endpoint.ts';

// Some EHRs take a patient in a search for time slots.
const gateway = await startGateway({
  connectors: [
    wrapConnector((connector) => ({
      ...connector,
      capabilities: { ...connector.capabilities, slotsByPatient: 'optional' },
    })),
  ],
});
afterAll(() => gateway.close());

type Place = 'path' | 'query' | 'body';

/** Someone whom the examples can name, by the EHR's id and by a national number. */
const known = {
  patient: { id: 'p-1', national: 'no_personal_number:15859000026', emr: 'sandbox-no', care_unit_id: 'oslo-sentrum' },
  resource: { id: 'r-1', national: 'hsa_id:SE0000000000-1001', emr: 'sandbox-se', care_unit_id: 'sodermalm' },
} as const;
const kinds = { patient_id: 'patient', resource_id: 'resource', author_id: 'resource' } as const;
type Name = keyof typeof kinds;

/** Every place of an operation where its examples or parameters name a patient or a resource. */
const places = gateway.app.endpointDeps.endpoints.flatMap((operation) =>
  (Object.keys(kinds) as Name[]).flatMap((name) => {
    const { params = {}, query = {}, examples } = operation;
    const places: [Place, object][] = [
      ['path', params],
      ['query', query],
      ['body', Object(examples.body)],
    ];
    return places.flatMap(([place, names]) => (name in names ? [[name, place, operation.operationId] as const] : []));
  }),
);

/** The operation's example with this text in this place, at the care unit that knows everyone in `known`. */
function request(operation: AnyEndpoint, place: Place, name: Name, text: string, headers: RequestOptions['headers']) {
  const { params, query, body } = operation.examples;
  const { emr, care_unit_id } = known[kinds[name]];
  const changed = { [name]: text };
  const examples = {
    ...operation.examples,
    params: { ...params, emr, care_unit_id, ...(place === 'path' ? changed : {}) },
    query: { ...query, ...(place === 'query' ? changed : {}) },
    ...(body === undefined ? {} : { body: { ...Object(body), ...(place === 'body' ? changed : {}) } }),
  };
  const { method, path, options } = exampleRequest({ ...operation, examples });
  return gateway.request<Problem>(method, path, { ...options, headers: { ...options.headers, ...headers } });
}

test.each(places)('%s in the %s of %s is in Patient or Resource ID notation', async (name, place, operationId) => {
  const operation = gateway.app.endpointDeps.endpoints.find((it) => it.operationId === operationId);
  if (!operation) throw new Error(`No operation ${operationId}`);
  const kind = kinds[name];
  const { id, national } = known[kind];
  const notFound = `${kind}_not_found`;
  const found = async (text: string, headers = {}) => {
    const { body, text: response } = await request(operation, place, name, text, headers);
    expect(body?.reason ?? '', response).not.toMatch(new RegExp(`^(identifier|header_reference)_|^${notFound}$`));
  };
  for (const text of [id, `emr_id:${id}`, national]) {
    await found(text);
    await found('header:x-it', { 'x-it': text });
  }
  const at = place === 'body' ? { pointer: `/${name}` } : { parameter: name };
  const rejected = async (text: string, status: number, reason: string) =>
    expect(await request(operation, place, name, text, {}), text).toMatchObject({
      status,
      body: { reason, errors: [{ ...at, reason }] },
    });
  await rejected('unknown:x', 400, 'identifier_malformed');
  await rejected(
    kind === 'patient' ? 'nhs_number:9990000018' : 'no_personal_number:15859000026',
    400,
    'identifier_type_unsupported',
  );
  await rejected('nobody', place === 'path' ? 404 : 400, notFound);
});
