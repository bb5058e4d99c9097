import { expect, test } from 'vitest';
import { prettyLines } from './pretty-lines.ts';

const line = (fields: object) =>
  `${JSON.stringify({ level: 30, time: 1_795_353_580_340, pid: 1, hostname: 'vm', ...fields })}\n`;

test('a line begins with time, level and message, and shows the other fields', () => {
  const text = prettyLines(false)(line({ port: 8080, msg: 'Crossward is listening' }));
  expect(text).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: Crossward is listening \{"port":8080\}\n$/);
});

test('a request shows method, route, status and time first', () => {
  const fields = { request_id: 'r', method: 'GET', route: '/api/emrs', status: 200, milliseconds: 1.5, msg: 'request' };
  expect(prettyLines(false)(line(fields))).toMatch(/ INFO: GET \/api\/emrs 200 in 1\.5 ms \{"request_id":"r"\}\n$/);
});

test('colours only a terminal that has colours', () => {
  const colourStart = `${String.fromCharCode(27)}[`;
  expect(prettyLines(true)(line({ msg: 'listening' }))).toContain(colourStart);
  expect(prettyLines(false)(line({ msg: 'listening' }))).not.toContain(colourStart);
});
