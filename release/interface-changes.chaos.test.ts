import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { breakingChanges, hasGo, mayBreak } from './interface-changes.ts';
import { root } from './npm-pack.ts';

interface Schema {
  readonly properties: Record<string, { readonly type?: string; readonly enum?: string[] }>;
  required: string[];
}
interface Document {
  readonly paths: Record<string, unknown>;
  readonly components: {
    readonly schemas: Record<
      'AppointmentCreation' | 'Appointment' | 'AppointmentPreview' | 'AppointmentEvent' | 'Event',
      Schema
    >;
  };
}

const released = join(root, 'server/openapi.json');
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'crossward-interface-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function changesAfter(change: (document: Document) => void): Promise<string> {
  const document = JSON.parse(await readFile(released, 'utf8')) as Document;
  change(document);
  const path = join(folder, 'changed.json');
  await writeFile(path, JSON.stringify(document));
  return breakingChanges(released, path);
}

function remove(schema: Schema, name: string): void {
  delete schema.properties[name];
  schema.required = schema.required.filter((required) => required !== name);
}

describe.runIf((await hasGo()) || process.env.CI === 'true')('what breaks callers', () => {
  test.each<[string, (document: Document) => void]>([
    ['a route that is gone', ({ paths }) => delete paths['/api/events']],
    ['a field that is gone from a response', ({ components }) => remove(components.schemas.Appointment, 'end')],
    ['a field that is gone from an event', ({ components }) => remove(components.schemas.Event, 'timestamp')],
    ['a field that is gone from its data', ({ components }) => remove(components.schemas.AppointmentEvent, 'status')],
    ['a type of event that is gone', ({ components }) => void components.schemas.Event.properties.type?.enum?.pop()],
    [
      'a field that requests must have',
      ({ components: { schemas } }) => {
        schemas.AppointmentCreation.properties.why = { type: 'string' };
        schemas.AppointmentCreation.required.push('why');
      },
    ],
  ])('is found: %s', async (_, change) => {
    expect(await changesAfter(change)).toContain('error');
  });

  test('is not: a further field in a response, one that requests can have, and a further type of event', async () => {
    const changes = await changesAfter(({ components: { schemas } }) => {
      schemas.Appointment.properties.further = { type: 'string' };
      schemas.AppointmentPreview.properties.further = { type: 'string' };
      schemas.AppointmentCreation.properties.further = { type: 'string' };
      schemas.Event.properties.type?.enum?.push('appointment.further');
    });
    expect(changes).toBe('');
  });
});

test.each([
  ['1.4.2', '2.0.0', true],
  ['1.4.2', '1.5.0', false],
  ['0.1.0', '0.2.0', true],
  ['0.1.0', '0.1.1', false],
  ['0.9.0', '1.0.0', true],
  ['1.0.0', '1.0.0', false],
])('after %s, version %s may break callers: %s', (before, after, expected) => {
  expect(mayBreak(before, after)).toBe(expected);
});
