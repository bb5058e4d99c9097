import { type Connector, type ConnectorContext, ConnectorError } from '@crossward/connector-kit';
import { plainHttp } from '@crossward/connector-kit/conformance';
import type { PostgresPool } from 'kysely';
import { expect, test } from 'vitest';
import { bindConnector } from './bind-connector.ts';

const context = { emr: 'clinic', settings: {}, careUnits: [], http: plainHttp(), now: () => new Date() };
const database: PostgresPool = {
  options: {},
  connect: () => Promise.reject(new Error('not called')),
  end: async () => undefined,
};

/** A connector that records the contexts of `open` and `probe`. */
function recording(migrations: URL | undefined) {
  const contexts: ConnectorContext<unknown>[] = [];
  const module = {
    name: 'recording',
    settingsSchema: {},
    async open(given: ConnectorContext<unknown>): Promise<Connector> {
      contexts.push(given);
      throw new ConnectorError('unavailable', 'Only notes its context');
    },
    async probe(given: ConnectorContext<unknown>) {
      contexts.push(given);
      return { findings: [], recommendedSettings: {} };
    },
  };
  return { contexts, module: migrations ? { ...module, migrations } : module };
}

test('a connector without migrations gets no database', async () => {
  const { module, contexts } = recording(undefined);
  const { open, probe } = bindConnector(module, context, database);
  await probe();
  await expect(open()).rejects.toThrow(ConnectorError);
  expect(contexts).toEqual([context, context]);
});

test('a connector with migrations gets the database', async () => {
  const { module, contexts } = recording(new URL('file:///migrations/'));
  const { open, probe } = bindConnector(module, context, database);
  await probe();
  await expect(open()).rejects.toThrow(ConnectorError);
  expect(contexts).toEqual([
    { ...context, database },
    { ...context, database },
  ]);
});

test('a connector with migrations cannot be bound without a database', () => {
  expect(() => bindConnector(recording(new URL('file:///migrations/')).module, context, undefined)).toThrow(
    'The connector recording needs a database',
  );
});

const passing = { changes: [], patientIdentifierTypes: ['emr_id', 'nhs_number'], passesThrough: ['nhs_number'] };
const otherTypes =
  '"capabilities.patientIdentifierTypes" of the connector incomplete must be emr_id and the types in "capabilities.passesThrough"';
const types = { patientIdentifierTypes: [], resourceIdentifierTypes: [] };

test.each([
  [undefined, '"open" of the connector incomplete must return an object with "capabilities"'],
  [{}, '"open" of the connector incomplete must return an object with "capabilities"'],
  [{ capabilities: types }, '"capabilities.changes" of the connector incomplete must be an array'],
  [
    { capabilities: { ...types, changes: [], passesThrough: ['nhs_number'] }, findPatient: async () => null },
    'The connector incomplete has "findPatient", although its "capabilities.passesThrough" says it cannot',
  ],
  [{ capabilities: { ...types, ...passing, patientIdentifierTypes: ['nhs_number'] } }, otherTypes],
  [{ capabilities: { ...types, ...passing, patientIdentifierTypes: ['emr_id'] } }, otherTypes],
  [{ capabilities: { ...types, ...passing, passesThrough: [] } }, otherTypes],
  [
    { capabilities: { ...types, changes: ['create'] } },
    'The connector incomplete claims changes, and has no function "changeAppointments"',
  ],
])('a plug-in that opens to %j is rejected', async (opened, message) => {
  const module = { name: 'incomplete', settingsSchema: {}, open: async () => opened as unknown as Connector };
  await expect(bindConnector(module, context, undefined).open()).rejects.toMatchObject({
    name: 'ConfigurationError',
    message,
  });
});
