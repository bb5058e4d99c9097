import { expect, test } from 'vitest';
import { hashPassword, isPassword } from './password.ts';

test('a password matches its own hash only, and no hash matches none', async () => {
  const hash = await hashPassword('correct horse battery');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await hashPassword('correct horse battery')).not.toBe(hash);
  expect(await isPassword('correct horse battery', hash)).toBe(true);
  expect(await isPassword('Correct horse battery', hash)).toBe(false);
  expect(await isPassword('correct horse battery', undefined)).toBe(false);
});

test('passwords from browsers that nobody has signed in with wait behind the others', async () => {
  const done: string[] = [];
  const check = (name: string, isStranger: boolean) =>
    isPassword('a password', undefined, { isStranger }).then(() => done.push(name));
  const strangers = Array.from({ length: 4 }, (_, index) => check(`stranger ${index}`, true));
  await check('operator', false);
  expect(done).toEqual(['stranger 0', 'operator']);
  await Promise.all(strangers);
});

test('a hash that cannot be read is an error, and the next password is checked', async () => {
  await expect(isPassword('a password', 'no hash')).rejects.toThrow();
  expect(await isPassword('a password', undefined)).toBe(false);
});
