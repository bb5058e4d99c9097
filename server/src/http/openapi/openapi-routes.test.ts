import { expect, test } from 'vitest';
import openapi from '../../../openapi.json' with { type: 'json' };
import { forReaders } from './openapi-routes.ts';

type Operation = { operationId: string; summary: string; responses: Record<string, { description: string }> };
type Paths = Record<string, Record<string, Operation>>;

const operationsOf = (document: object) =>
  Object.entries((document as { paths: Paths }).paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
const all = operationsOf(openapi);

test('the reference shows the response to a booking before that of a dry run, and everything else as it is', () => {
  const shown = operationsOf(forReaders(openapi));
  expect(shown.flatMap(({ responses }) => Object.values(responses)).length).toBe(
    all.flatMap(({ responses }) => Object.values(responses)).length,
  );
  const booking = shown.find((it) => it.operationId === 'create_appointment');
  const descriptions = Object.values(booking?.responses ?? {}).map(({ description }) => description);
  expect([descriptions.at(0), descriptions.at(-1)]).toEqual(['The appointment.', 'The preview of a dry run.']);
  for (const { operationId, responses } of shown) {
    const [first] = Object.values(responses);
    expect(first?.description, operationId).not.toContain('dry run');
  }
});

test.each(all)('$operationId has a title in the style of the others', ({ method, path, summary }) => {
  const isList = method === 'get' && !/(\}|\/content)$/.test(path);
  const style = isList
    ? /^List [A-Za-z ]+s$/
    : /^Search for [a-z ]+s$|^(Get|Find or create|Download|Create|Change|Delete|End|Take|Send|Rotate|Replay|Redeliver) (an?|the|several) ([A-Z]+|[a-z ]+)$/;
  expect(summary).toMatch(style);
});

test('the introduction covers what all operations share', () => {
  const headings = [...openapi.info.description.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
  expect(headings).toEqual(
    expect.arrayContaining([
      'Authentication',
      'Identifiers',
      'Times',
      'Codes',
      'Paging',
      'Retries',
      'Errors',
      'TypeScript client',
    ]),
  );
  for (const name of openapi.info.description.matchAll(/`((?:get|list|create|change|resend)_\w+)`/g)) {
    expect(all.map(({ operationId }) => operationId)).toContain(name[1]);
  }
});
