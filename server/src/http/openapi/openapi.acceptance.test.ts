/** @module-tag any-database */
import { afterAll, describe, expect, test } from 'vitest';
import { type Problem, startGateway } from '../../../../test/gateway/gateway.ts';
import { openapi } from '../../../../test/gateway/openapi.ts';
import { oslo } from '../../../../test/requests/bookings.ts';
import { reasonNames, reasons } from '../../problems/reasons.ts';

const gateway = await startGateway();
afterAll(() => gateway.close());

describe('the OpenAPI description', () => {
  interface Described {
    readonly operationId: string;
    readonly parameters?: readonly {
      readonly in: string;
      readonly name: string;
      readonly example?: unknown;
      readonly schema: { readonly pattern?: string; readonly minLength?: number };
    }[];
  }
  const paths = Object.entries(openapi.paths as Record<string, Record<string, Described>>);
  const reads = paths.flatMap(([path, methods]) =>
    methods.get ? [[methods.get.operationId, path, methods.get] as const] : [],
  );

  test.each(reads)('has a working example: %s', async (_, template, { parameters = [] }) => {
    const given = parameters.filter(({ example }) => example !== undefined);
    const path = given
      .filter((it) => it.in === 'path')
      .reduce(
        (filled, { name, example }) => filled.replace(`{${name}}`, encodeURIComponent(String(example))),
        template,
      );
    const query = new URLSearchParams(
      given
        .filter((it) => it.in === 'query')
        .flatMap(({ name, example }) => [example].flat().map((value): [string, string] => [name, String(value)])),
    );
    const response = await gateway.request<Problem>('GET', `${path}?${query}`);
    // The ids of records in examples are invented.
    if (response.status !== 404) expect(response.status, response.text).toBe(200);
    else
      expect(response.body.reason).toMatch(
        /^(appointment|medical_note|document|schedule|webhook_endpoint|watch)_not_found$/,
      );
  });

  test('declares the same constraints for headers and texts as validation', async () => {
    const all = paths.flatMap(([, methods]) => Object.values(methods)).flatMap(({ parameters = [] }) => parameters);
    const named = (name: string) =>
      all.filter((it) => it.name === name && it.in !== 'path').map(({ schema }) => schema);
    expect(named('x-request-id')).not.toEqual([]);
    expect(named('cursor')).not.toEqual([]);
    for (const { pattern } of named('x-request-id')) expect(pattern).toBeUndefined();
    for (const { minLength } of named('cursor')) expect(minLength).toBe(1);
    for (const parameter of ['cursor', 'patient_id', 'resource_id']) {
      expect(await gateway.request('GET', `${oslo}/appointments?patient_id=p-3&${parameter}=`)).toMatchObject({
        status: 400,
        body: { reason: 'request_invalid' },
      });
    }
  });
});

describe('problem pages', () => {
  test.each(reasonNames)('explain %s', async (reason) => {
    const { status, headers, text } = await gateway.request('GET', `/problems/${reason}`, { client: null });
    expect(status).toBe(200);
    expect(headers['content-type']).toBe('text/html; charset=utf-8');
    expect(text).toContain(`<code>${reason}</code>`);
    expect(text).toContain(reasons[reason].title);
    expect(text).toContain('What to do');
  });
});
