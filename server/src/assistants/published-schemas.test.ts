import { registerSchema, type SchemaObject, validate } from '@hyperjump/json-schema/draft-2020-12';
import { Client } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createDesk } from './desk.ts';
import { keysFrom } from './references.ts';
import { createAssistantServer } from './server.ts';

/* Hosts give the schemas of tools to a model, or to what checks its calls. One that they refuse costs them the whole list. */

const nobody = { clientId: 'x', emr: 'x', careUnitId: 'x', patient: 'x' };
const desk = createDesk(nobody, { baseUrl: 'http://127.0.0.1:1', clientSecret: 'x' }, keysFrom('x', 'x'));
const [near, far] = InMemoryTransport.createLinkedPair();
await createAssistantServer(desk, '1.0.0', pino({ level: 'silent' })).connect(near);
const client = new Client({ name: 'host', version: '1.0.0' });
await client.connect(far);
const { tools } = await client.listTools();

interface Published {
  readonly name: string;
  readonly kind: 'input' | 'output';
  readonly schema: SchemaObject;
}
const published = tools.flatMap(({ name, inputSchema, outputSchema }): Published[] => [
  { name, kind: 'input', schema: inputSchema as unknown as SchemaObject },
  { name, kind: 'output', schema: outputSchema as unknown as SchemaObject },
]);
const samples: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  list_resources: { service_id: 'consultation' },
  find_times: { service_id: 'consultation', resource_id: 'emr_id:r-1', from: '2030-03-15', until: '2030-03-16' },
  get_appointment: { appointment_id: 'a' },
  preview_booking: { time_ref: 'a' },
  preview_move: { appointment_id: 'a', time_ref: 'a' },
  preview_cancel: { appointment_id: 'a' },
  book: { plan_ref: 'a' },
  move: { plan_ref: 'a' },
  cancel: { plan_ref: 'a' },
  resend_code: { appointment_id: 'a' },
};

describe.each(published)('the $kind schema of $name', ({ name, kind, schema }) => {
  const right = samples[name] ?? {};
  const wrong = [{ ...right, code: '123456' }, ...Object.keys(right).map((it) => ({ ...right, [it]: 1 }))];

  test('is read by Ajv in its strict mode', () => {
    const check = new Ajv2020({ strict: true }).compile(schema);
    if (kind === 'output') return;
    expect([right, ...wrong].map((it) => check(it))).toEqual([true, ...wrong.map(() => false)]);
  });

  test('is read by Hyperjump', async () => {
    const id = `https://crossward.example/${name}/${kind}`;
    registerSchema(schema, id, 'https://json-schema.org/draft/2020-12/schema');
    const check = await validate(id);
    if (kind === 'output') return;
    expect([right, ...wrong].map((it) => check(it).valid)).toEqual([true, ...wrong.map(() => false)]);
  });

  // https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
  test('is in the subset that every host takes', () => {
    const keywords = ['type', 'properties', 'required', 'additionalProperties', 'description'];
    const more = kind === 'input' ? [] : ['items', 'anyOf', 'const', 'maxLength'];
    for (const part of partsOf(schema)) {
      expect([...keywords, ...more]).toEqual(expect.arrayContaining(Object.keys(part)));
      if (!('anyOf' in part)) expect(part.type).toEqual(expect.any(String));
      if (part.type === 'object') expect(part.additionalProperties).toBe(false);
    }
  });
});

/** A schema with all schemas in it. */
function partsOf(schema: SchemaObject): SchemaObject[] {
  const { properties = {}, items = [], anyOf = [] } = schema as Readonly<Record<string, object>>;
  const inner = [...Object.values(properties), ...[items].flat(), ...Object.values(anyOf)] as SchemaObject[];
  return [schema, ...inner.flatMap(partsOf)];
}
