import type { Appointment } from '@medplum/fhirtypes';
import { describe, expect, test } from 'vitest';
import { Problem } from '../../problems/problem.ts';
import { jsonPatchOf, patched } from './patch.ts';
import type { JsonPatch } from './schemas.ts';

const appointment = {
  resourceType: 'Appointment',
  status: 'booked',
  comment: 'x',
  participant: [{ actor: { reference: 'Patient/p-1' }, status: 'accepted' }],
} as Appointment;

function refusalOf(work: () => unknown): number {
  try {
    work();
  } catch (error) {
    if (error instanceof Problem) return error.status;
    throw error;
  }
  throw new Error('It is not refused');
}

// Without their limits, most of these take minutes and gigabytes: a run of them would end with the time of the test.
describe('a patch that would make much of little is refused', () => {
  const many = Array.from(
    { length: 60 },
    () => ({ op: 'copy', from: '/participant', path: '/participant/-' }) as const,
  );
  const list = Array.from({ length: 1500 }, () => 1);
  test.each<readonly [string, JsonPatch, number]>([
    ['a length', [{ op: 'replace', path: '/participant/length', value: 4_294_967_295 }], 422],
    ['a length that is added', [{ op: 'add', path: '/participant/length', value: 4_294_967_295 }], 422],
    ['a far place', [{ op: 'add', path: '/participant/4294967294', value: {} }], 422],
    ['a far place with an exponent', [{ op: 'add', path: '/participant/1e9', value: {} }], 422],
    ['a place below zero', [{ op: 'replace', path: '/participant/-1', value: {} }], 422],
    ['a place with zeros before', [{ op: 'replace', path: '/participant/00', value: {} }], 422],
    ['a name of a function', [{ op: 'replace', path: '/participant/push', value: {} }], 422],
    ['a prototype', [{ op: 'add', path: '/__proto__/x', value: 1 }], 422],
    ['a constructor', [{ op: 'replace', path: '/constructor/prototype', value: {} }], 422],
    ['copies of a list into itself', many, 422],
    ['a move', [{ op: 'move', from: '/participant', path: '/comment' }], 422],
    [
      'values beyond the limit of a body',
      [
        { op: 'add', path: '/text', value: list },
        { op: 'add', path: '/meta', value: list },
      ],
      422,
    ],
    ['a path without a slash', [{ op: 'replace', path: 'comment', value: 'y' }], 400],
    ['a path without a slash in a test', [{ op: 'test', path: 'participant/0', value: 'y' }], 400],
  ])('%s', (_, patch, status) => {
    expect(refusalOf(() => patched(appointment, patch))).toBe(status);
  });

  test.each(['length', '__proto__', 'participant.length', 'participant.push', 'participant[4294967294]'])(
    'in FHIRPath: %s',
    (path) => {
      for (const type of ['replace', 'add', 'delete']) {
        const parts = [
          { name: 'type', valueCode: type },
          { name: 'path', valueString: `Appointment.${path}` },
          { name: 'name', valueString: 'length' },
          { name: 'value', valueInteger: 4_294_967_295 },
        ];
        const make = () =>
          patched(appointment, jsonPatchOf([{ name: 'operation', part: parts }] as never, appointment));
        expect([400, 422]).toContain(refusalOf(make));
      }
    },
  );
});

test.each(['type', 'path', 'name'])('a %s in FHIRPath that is no text is refused', (name) => {
  for (const value of [{ toString: 1, valueOf: 1 }, [], 7, null, true]) {
    const parts = [
      { name: 'type', valueCode: 'add' },
      { name: 'path', valueString: 'Appointment' },
      { name: 'name', valueString: 'comment' },
      { name: 'value', valueString: 'y' },
    ].map((part) => (part.name === name ? { name, valueString: value } : part));
    const make = () => patched(appointment, jsonPatchOf([{ name: 'operation', part: parts }] as never, appointment));
    expect(refusalOf(make)).toBe(422);
  }
});

test('a patch changes a copy', () => {
  const patch: JsonPatch = [
    { op: 'replace', path: '/participant/0/actor/reference', value: 'Patient/p-2' },
    { op: 'add', path: '/participant/-', value: { status: 'accepted' } },
    { op: 'remove', path: '/comment' },
  ];
  expect(patched(appointment, patch)).toEqual({
    resourceType: 'Appointment',
    status: 'booked',
    participant: [{ actor: { reference: 'Patient/p-2' }, status: 'accepted' }, { status: 'accepted' }],
  });
  expect(appointment.comment).toBe('x');
});
