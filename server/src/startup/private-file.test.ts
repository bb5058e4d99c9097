import { chmod, chown, mkdir, stat, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { errorFrom, temporaryFolder } from '../config/test-support.ts';
import { makePrivateFolder } from './private-file.ts';

const modeOf = async (path: string) => ((await stat(path)).mode & 0o777).toString(8);

// Windows uses access control lists instead of file modes.
describe.skipIf(process.platform === 'win32')('a private folder', () => {
  test('is created with its parents, with access for its owner only', async () => {
    const folder = join(await temporaryFolder(), 'above', 'data');
    expect(await makePrivateFolder(folder)).toBe(false);
    expect(await makePrivateFolder(folder)).toBe(false);
    expect(await modeOf(folder)).toBe('700');
  });

  test.each([0o755, 0o777, 0o750, 0o701])('with access for others is restricted: %o', async (mode) => {
    const folder = join(await temporaryFolder(), 'data');
    await mkdir(folder);
    await chmod(folder, mode);
    expect(await makePrivateFolder(folder)).toBe(true);
    expect(await modeOf(folder)).toBe('700');
    expect(await makePrivateFolder(folder)).toBe(false);
  });

  test('is restricted through a symbolic link', async () => {
    const above = await temporaryFolder();
    await mkdir(join(above, 'data'));
    await chmod(join(above, 'data'), 0o755);
    await symlink('data', join(above, 'link'));
    expect(await makePrivateFolder(join(above, 'link'))).toBe(true);
    expect(await modeOf(join(above, 'data'))).toBe('700');
  });

  test('of another user is rejected and not changed', async () => {
    const folder = await anotherUsersFolder();
    const before = await modeOf(folder);
    const { message } = await errorFrom(makePrivateFolder(folder));
    expect(message).toMatch(/: belongs to another user \(\d+, not \d+\)/);
    expect(await modeOf(folder)).toBe(before);
  });
});

/** Only root can change the owner of a folder. For other users, the root of the file system belongs to another user. */
async function anotherUsersFolder(): Promise<string> {
  if (process.getuid?.() !== 0) return '/';
  const folder = join(await temporaryFolder(), 'data');
  await mkdir(folder, { mode: 0o755 });
  await chown(folder, 65_534, 65_534);
  return folder;
}
