import { afterEach, expect, test, vi } from 'vitest';
import { describedApp } from '../../../scripts/described-app.ts';
import { compilersFactory, type Lazy } from './compilers.ts';

afterEach(() => {
  vi.restoreAllMocks();
});

type Build = (...args: unknown[]) => (route: object) => Lazy;

/** Every function that the app compiles on first use. */
async function functionsOf(builder: 'buildValidator' | 'buildSerializer'): Promise<Lazy[]> {
  const functions: Lazy[] = [];
  const build = compilersFactory[builder] as unknown as Build;
  vi.spyOn(compilersFactory as unknown as Record<string, Build>, builder).mockImplementation((...args) => {
    const compile = build(...args);
    return (route) => {
      const compiled = compile(route);
      functions.push(compiled);
      return compiled;
    };
  });
  await (await describedApp()).close();
  return functions;
}

test.each(['buildValidator', 'buildSerializer'] as const)('every schema can be compiled: %s', async (builder) => {
  const functions = await functionsOf(builder);
  expect(functions.length).toBeGreaterThan(20);
  for (const { compile } of functions) expect(compile()).toBeTypeOf('function');
});

test('a wrong schema fails when it is compiled', () => {
  const compile = (compilersFactory.buildValidator as unknown as Build)({});
  expect(() => compile({ schema: { $ref: 'Missing' } }).compile()).toThrow(/Missing/);
});

test('a validator reports the errors of its last value', () => {
  const compile = (compilersFactory.buildValidator as unknown as Build)({});
  const validate = compile({ schema: { type: 'string' }, httpPart: 'body' });
  expect([validate(1), validate.errors]).toEqual([false, [expect.objectContaining({ keyword: 'type' })]]);
  expect([validate('one'), validate.errors]).toEqual([true, null]);
});
