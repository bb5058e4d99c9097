import { ConnectorError } from '@crossward/connector-kit';
import { expect, test } from 'vitest';
import { causeOf } from './cause-of.ts';

const causeWith = (number: string) => causeOf(new ConnectorError('unsupported', `Patient ${number} is unknown`));

test.each([
  '19640823-3234',
  '19640823\u200B3234',
  '19640823\u00A03234',
  '1964\u00AD08\u206023\u20113234',
  '158590\u202F00026',
])('a national number does not stay in the cause of a failure, however it is written: %j', (number) => {
  expect(causeWith(number)).toBe('patient … is unknown');
});

test('a cause is one line', () => {
  expect(causeOf(new ConnectorError('unsupported', 'The server\nrefuses\u202E it'))).toBe('the server refuses it');
});
