import { expect, test } from 'vitest';
import { ConnectorError, type ConnectorErrorKind } from './errors.ts';

class Late extends ConnectorError {}

/** The class of another copy of the kit. */
async function otherCopy(): Promise<typeof ConnectorError> {
  const path = './errors.ts?copy';
  const copy: typeof import('./errors.ts') = await import(path);
  return copy.ConnectorError;
}

test('recognises errors of another copy of the kit, of known kinds', async () => {
  const Other = await otherCopy();
  expect(Other).not.toBe(ConnectorError);
  expect(new Other('rejected', 'no')).toBeInstanceOf(ConnectorError);
  expect(new ConnectorError('rejected', 'no')).toBeInstanceOf(Other);
  expect(new Other('a_later_kind' as ConnectorErrorKind, 'no')).not.toBeInstanceOf(ConnectorError);
});

test('distinguishes subclasses and other errors', () => {
  expect(new Late('timeout', 'late')).toBeInstanceOf(Late);
  expect(new Late('timeout', 'late')).toBeInstanceOf(ConnectorError);
  expect(new ConnectorError('timeout', 'late')).not.toBeInstanceOf(Late);
  for (const value of [new Error('x'), { kind: 'timeout' }, null, undefined, 'timeout']) {
    expect(value).not.toBeInstanceOf(ConnectorError);
  }
});
